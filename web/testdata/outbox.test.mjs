import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import test from 'node:test';

import { Failure } from '../static/api.js';
import { Outbox } from '../static/outbox.js';

globalThis.crypto ??= webcrypto; // as in browsers

function memory() {
  const kept = new Map();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
}

// outbox makes one over answers that are given in turn; it settles when all
// were asked for.
function outbox(answers, storage = memory()) {
  const posted = [];
  const accepted = [];
  const asked = { signIn: 0 };
  let settle;
  const settled = new Promise((resolve) => (settle = resolve));
  const box = new Outbox({
    storage,
    post: async (item) => {
      posted.push(`${item.id} ${item.text}`);
      const next = answers.shift();
      if (next instanceof Error) throw next;
      return next;
    },
    accepted: (item) => accepted.push(item.text),
    changed: () => answers.length === 0 && settle(),
    signIn: () => (asked.signIn += 1),
  });
  return { box, posted, accepted, asked, settled, storage };
}

const ok = { state: 'queued' };
const lost = () => new Failure(0, 'unreachable', 'No answer.');

test('one whose answer was lost is posted again under its id, before the next', async () => {
  const { box, posted, accepted, settled } = outbox([lost(), ok, ok]);
  const first = box.add('s', 'one');
  const second = box.add('s', 'two');
  await settled;
  assert.deepEqual(posted, [`${first.id} one`, `${first.id} one`, `${second.id} two`]);
  assert.deepEqual(accepted, ['one', 'two']);
  assert.deepEqual(box.of('s'), []);
});

test('one that is refused stays, and the next goes on', async () => {
  const { box, accepted, settled } = outbox([new Failure(413, 'too_large', 'Too long.'), ok]);
  box.add('s', 'one');
  box.add('s', 'two');
  await settled;
  assert.deepEqual(accepted, ['two']);
  assert.deepEqual(box.of('s').map((item) => [item.text, item.state, item.error]), [['one', 'refused', 'Too long.']]);
});

test('without a sign-in it waits, and outlives the page', async () => {
  const first = outbox([new Failure(401, 'unauthorized', 'Sign in.')]);
  const item = first.box.add('s', 'one');
  await first.settled;
  assert.equal(first.asked.signIn, 1);
  const second = outbox([ok], first.storage);
  second.box.resume();
  await second.settled;
  assert.deepEqual(second.posted, [`${item.id} one`]);
  assert.deepEqual(JSON.parse(first.storage.getItem('parley.outbox')), []);
});

test('a storage with something else in it is an empty one', () => {
  const storage = memory();
  storage.setItem('parley.outbox', '{broken');
  assert.deepEqual(outbox([], storage).box.of('s'), []);
});
