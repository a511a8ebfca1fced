// How a conversation is put together, whatever comes in whatever order the
// stream allows.

import assert from 'node:assert/strict';
import test from 'node:test';

import { plain } from '../static/format.js';
import { Transcript } from '../static/transcript.js';

const idle = { status: 'idle', last_seq: 0, queued: 0 };
const text = (words) => [{ type: 'text', text: words }];
const stored = (seq, type, data, turn = 't1') => ({ type, seq, at: '2026-03-01T09:00:00Z', turn_id: turn, data });
const message = (seq, id, words, more = {}) =>
  stored(seq, 'session:message', { id, role: 'assistant', parts: text(words), ...more });
const input = (seq, id, words, kind = 'message') =>
  stored(seq, 'session:input', { input_id: id, kind, origin: 'o', parts: text(words) });
const delta = (stream, n, words, kind = 'text') => ({ type: 'session:delta', data: { stream, n, kind, text: words } });
const snapshot = (stream, n, words) => ({ type: 'session:snapshot', data: { stream, n, parts: text(words) } });

function after(...events) {
  const transcript = new Transcript();
  transcript.begin(idle, [], false);
  const going = events.map((event) => transcript.apply(event));
  return { transcript, going };
}

const texts = (transcript) => transcript.ordered().map((e) => (e.message ? plain(e.message.parts) : (e.text ?? e.input?.text)));
const reply = (transcript) => transcript.stream && plain(transcript.stream.parts);

test('deltas go on where the last one ended', () => {
  const { transcript } = after(delta('r', 1, 'a'), delta('r', 2, 'b'), delta('r', 3, 'c'));
  assert.equal(reply(transcript), 'abc');
});

test('a delta that is known is left out', () => {
  const { transcript, going } = after(delta('r', 1, 'a'), delta('r', 2, 'b'), delta('r', 1, 'a'), delta('r', 2, 'b'), delta('r', 3, 'c'));
  assert.equal(reply(transcript), 'abc');
  assert.ok(going.every(Boolean));
});

test('a gap means to read anew', () => {
  const { transcript, going } = after(delta('r', 1, 'a'), delta('r', 3, 'c'));
  assert.deepEqual(going, [true, false]);
  assert.equal(reply(transcript), 'a');
  assert.deepEqual(after(delta('r', 2, 'b')).going, [false]);
});

test('a snapshot takes the place of what was shown, and deltas go on after it', () => {
  const { transcript } = after(delta('r', 1, 'a'), snapshot('r', 3, 'abc'), delta('r', 2, 'b'), delta('r', 4, 'd'));
  assert.equal(reply(transcript), 'abcd');
});

test('an older snapshot takes nothing away', () => {
  const { transcript } = after(delta('r', 1, 'a'), delta('r', 2, 'b'), snapshot('r', 1, 'a'), delta('r', 3, 'c'));
  assert.equal(reply(transcript), 'abc');
});

test('a stored message takes the place of its stream', () => {
  const { transcript } = after(delta('r', 1, 'a'), message(1, 'r', 'abc'));
  assert.equal(transcript.stream, null);
  assert.deepEqual(texts(transcript), ['abc']);
});

test('nothing of a stream comes back after its message', () => {
  const { transcript, going } = after(message(1, 'r', 'abc'), delta('r', 4, 'd'), snapshot('r', 4, 'abcd'));
  assert.equal(transcript.stream, null);
  assert.deepEqual(texts(transcript), ['abc']);
  assert.ok(going.every(Boolean));
});

test('another stream, a new attempt or the end of the turn drop what was not stored', () => {
  assert.equal(reply(after(delta('r', 1, 'a'), delta('q', 1, 'x')).transcript), 'x');
  const again = after(delta('r', 1, 'a'), stored(1, 'session:turn_started', { attempt: 2 })).transcript;
  assert.equal(again.stream, null);
  assert.match(texts(again)[0], /taken up again/);
  const end = after(delta('r', 1, 'a'), stored(1, 'session:turn_completed', { stop_reason: 'aborted' })).transcript;
  assert.equal(end.stream, null);
  assert.deepEqual(texts(end), ['Stopped.']);
});

test('reasoning and text stand apart', () => {
  const { transcript } = after(delta('r', 1, 'hm', 'reasoning'), delta('r', 2, 'm', 'reasoning'), delta('r', 3, 'yes'));
  assert.equal(plain(transcript.stream.parts, 'reasoning'), 'hmm');
  assert.equal(reply(transcript), 'yes');
});

test('events that come again change nothing', () => {
  const events = [message(1, 'a', 'one'), stored(2, 'session:rewound', { to_seq: 0, turns: 1 }), message(3, 'b', 'two')];
  const { transcript } = after(...events, ...events);
  assert.deepEqual(texts(transcript), ['one', 'The last turn was undone.', 'two']);
});

test('whatever is cut, repeated or shown as a snapshot, the reply is its beginning', () => {
  let seed = 7;
  const random = (below) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  const pieces = Array.from({ length: 60 }, (_, i) => `w${i} `);
  for (let round = 0; round < 200; round += 1) {
    const transcript = new Transcript();
    transcript.begin(idle, [], false);
    for (let n = 1; n <= pieces.length; ) {
      // Now and then the stream is cut: it goes on from before, or with a snapshot.
      if (random(5) === 0) {
        const back = Math.max(1, n - random(4));
        for (let i = back; i < n; i += 1) assert.ok(transcript.apply(delta('r', i, pieces[i - 1])));
      }
      if (random(7) === 0) {
        n = Math.min(pieces.length, n + random(3));
        assert.ok(transcript.apply(snapshot('r', n, pieces.slice(0, n).join(''))));
      } else {
        assert.ok(transcript.apply(delta('r', n, pieces[n - 1])));
      }
      assert.equal(reply(transcript), pieces.slice(0, n).join(''));
      n += 1;
    }
    transcript.apply(message(1, 'r', pieces.join('')));
    assert.deepEqual(texts(transcript), [pieces.join('')]);
  }
});

test('an input waits until a message shows it', () => {
  const { transcript } = after(
    stored(1, 'session:turn_started', { attempt: 1 }),
    input(2, 'i1', 'later'),
    input(3, 'i2', 'and this'),
  );
  assert.deepEqual(transcript.waiting().map((one) => one.text), ['later', 'and this']);
  transcript.apply(stored(4, 'session:message', { id: 'm', role: 'user', parts: text('later'), input_ids: ['i1'] }));
  assert.deepEqual(transcript.waiting().map((one) => one.text), ['and this']);
  assert.deepEqual(texts(transcript), ['later']);
});

test('a receipt and its event are one input, in either order', () => {
  const receipt = { input_id: 'i1', state: 'queued' };
  const first = after(stored(1, 'session:turn_started', { attempt: 1 }), input(2, 'i1', 'hello')).transcript;
  first.receipt(receipt, 'hello');
  const second = after(stored(1, 'session:turn_started', { attempt: 1 })).transcript;
  second.receipt(receipt, 'hello');
  second.apply(input(2, 'i1', 'hello'));
  for (const transcript of [first, second]) {
    assert.deepEqual(transcript.waiting().map((one) => one.text), ['hello']);
  }
  const shown = after(stored(1, 'session:message', { id: 'm', role: 'user', parts: text('hello'), input_ids: ['i1'] })).transcript;
  shown.receipt(receipt, 'hello');
  assert.deepEqual(texts(shown), ['hello']);
});

test('a command and its answer stand together, also when they are read later', () => {
  const answer = { id: 'n', role: 'system', hidden: true, parts: text('Idle.'), input_ids: ['i1'] };
  const live = after(message(1, 'a', 'hi'), input(2, 'i1', '/status', 'command'), stored(3, 'session:message', answer)).transcript;
  const read = new Transcript();
  read.begin({ status: 'idle', last_seq: 3 }, [{ seq: 1, id: 'a', role: 'user', parts: text('hi') }, { ...answer, seq: 3 }], false);
  read.apply(input(2, 'i1', '/status', 'command'));
  read.apply(stored(3, 'session:message', answer));
  for (const transcript of [live, read]) assert.deepEqual(texts(transcript), ['hi', '/status', 'Idle.']);
});

test('a turn that goes on after a question was not interrupted', () => {
  const { transcript } = after(stored(1, 'session:turn_started', { attempt: 1 }), stored(2, 'session:turn_started', { attempt: 2 }));
  assert.deepEqual(texts(transcript), []);
  assert.equal(transcript.turn.state, 'running');
});

test('a page of messages and the events from its first one on are one conversation', () => {
  const transcript = new Transcript();
  const page = [
    { seq: 5, id: 'm1', role: 'user', parts: text('hi'), input_ids: ['i1'] },
    { seq: 7, id: 'm2', role: 'assistant', parts: text('hello') },
  ];
  transcript.begin({ status: 'idle', last_seq: 9 }, page, true);
  assert.equal(transcript.seq, 4);
  const { seq: _, ...body } = page[0];
  transcript.apply(stored(5, 'session:message', body));
  transcript.apply(message(7, 'm2', 'hello'));
  transcript.apply(stored(8, 'session:turn_completed', { stop_reason: 'length' }));
  assert.deepEqual(texts(transcript), ['hi', 'hello', 'The answer was cut off: it reached the limit of the model.']);
});

test('what happened while the page was read is not left out', () => {
  const transcript = new Transcript();
  transcript.begin({ status: 'idle', last_seq: 2 }, [{ seq: 4, id: 'm1', role: 'user', parts: text('hi') }], true);
  transcript.apply(stored(3, 'session:turn_started', { attempt: 1 }));
  assert.equal(transcript.turn?.state, 'running');
});

test('a question is open until it is answered, and stays answered', () => {
  const question = stored(1, 'session:approval_requested', { call_id: 'c', tool: 'run' });
  const { transcript } = after(question, stored(2, 'session:approval_resolved', { call_id: 'c', state: 'denied' }));
  assert.equal(transcript.approvals.size, 0);
  transcript.question({ call_id: 'c', tool: 'run' });
  assert.equal(transcript.approvals.size, 0);
  assert.equal(transcript.calls.get('c').decision, 'denied');
});

test('a message that was taken away leaves its place', () => {
  const later = after(message(1, 'a', 'secret'), stored(2, 'session:redacted', { seqs: [1] })).transcript;
  const before = after(stored(1, 'session:message', { redacted: true })).transcript;
  const page = new Transcript();
  page.begin({ status: 'idle', last_seq: 1 }, [{ seq: 1, id: '', role: '', parts: [], redacted: true }], false);
  page.apply(stored(1, 'session:message', { redacted: true }));
  for (const transcript of [later, before, page]) {
    assert.deepEqual(transcript.ordered().map((entry) => entry.kind), ['removed']);
  }
});

test('an answer that comes late does not take back what followed it', () => {
  const { transcript } = after(
    stored(1, 'session:approval_requested', { call_id: 'c', tool: 'run' }),
    stored(2, 'session:approval_resolved', { call_id: 'c', state: 'approved' }),
    stored(3, 'session:tool_started', { call_id: 'c', tool: 'run' }),
  );
  transcript.resolve('c', 'approved');
  assert.equal(transcript.calls.get('c').state, 'running');
});
