import assert from 'node:assert/strict';
import test from 'node:test';

import { blocks, oneLine, plain, spans, titleOf } from '../static/format.js';

const short = (text) => blocks(text).map((b) => (b.kind === 'code' ? `[${b.lang}]${b.text}` : b.text));

test('paragraphs and fenced code', () => {
  for (const [text, want] of [
    ['', []],
    ['one', ['one']],
    ['one\ntwo\n\nthree', ['one\ntwo', 'three']],
    ['one\r\n\r\ntwo', ['one', 'two']],
    ['a\n```go\nx\n\ny\n```\nb', ['a', '[go]x\n\ny', 'b']],
    ['```\nnot closed', ['[]not closed']],
    ['````\n```\n````', ['[]```']],
    ['~~~\nx\n~~~', ['[]x']],
    ['say ``` here', ['say ``` here']],
    ['```inline``` text', ['```inline``` text']],
    ['```', ['[]']],
  ]) {
    assert.deepEqual(short(text), want, JSON.stringify(text));
  }
});

test('code inside of a line', () => {
  assert.deepEqual(spans('a `b` c'), [{ code: false, text: 'a ' }, { code: true, text: 'b' }, { code: false, text: ' c' }]);
  assert.deepEqual(spans('a ` b'), [{ code: false, text: 'a ` b' }]);
});

test('what somebody wrote, without the notes of the runtime', () => {
  const parts = [{ type: 'text', text: 'It is nine.', note: true }, { type: 'text', text: 'hi' }, { type: 'reasoning', text: 'hm' }];
  assert.equal(plain(parts), 'hi');
  assert.equal(plain(parts, 'reasoning'), 'hm');
  assert.equal(plain(undefined), '');
});

test('arguments in one line, and names', () => {
  assert.equal(oneLine({ a: 'b\n c' }), 'b c');
  assert.equal(oneLine({ command: ['rm', '-r', 'build'] }), 'rm -r build');
  assert.equal(oneLine({ a: 1, b: [true, null] }), 'a: 1, b: [true,null]');
  assert.equal(oneLine(undefined), '');
  assert.equal(oneLine('x'.repeat(9), 4), 'xxxx…');
  assert.equal(titleOf({ title: 'T', preview: 'p' }), 'T');
  assert.equal(titleOf({ title: '', preview: 'p' }), 'p');
  assert.equal(titleOf({}), 'New conversation');
});
