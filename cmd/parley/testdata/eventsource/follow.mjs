// Follows a session with an EventSource, and puts the text of replies together as a
// page does. Each thing it sees is a line of JSON on standard output.
//
//   TOKEN=… node follow.mjs URL

import { EventSource } from 'eventsource';

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

const source = new EventSource(process.argv[2], {
  fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${process.env.TOKEN}` } }),
});

// The replies that are being written, by the id of the message they become.
const replies = new Map();

const types = [
  'session:started', 'session:participant', 'session:input', 'session:message', 'session:turn_started', 'session:turn_completed',
  'session:updated', 'session:delta', 'session:snapshot', 'session:status', 'session:resync',
];

function delta({ stream, n, text }) {
  const reply = replies.get(stream) ?? { n: 0, text: '' };
  if (n !== reply.n + 1) say({ problem: `delta ${n} of ${stream} came after ${reply.n}` });
  replies.set(stream, { n, text: reply.text + text });
}

function snapshot({ stream, n, parts }) {
  replies.set(stream, { n, text: parts.map((part) => part.text ?? '').join('') });
}

for (const type of types) {
  source.addEventListener(type, ({ data, lastEventId }) => {
    const event = JSON.parse(data);
    if (type === 'session:delta') delta(event.data);
    if (type === 'session:snapshot') snapshot(event.data);
    const line = { type, id: lastEventId, seq: event.seq };
    if (type !== 'session:delta' && type !== 'session:snapshot') line.data = event.data;
    if (type === 'session:message') line.live = replies.get(event.data.id)?.text;
    say(line);
  });
}

source.addEventListener('open', () => say({ open: true }));
source.addEventListener('error', (error) => {
  say({ error: error.message ?? '', code: error.code });
  // Where the specification has a client give up, a page comes back by itself.
  if (source.readyState === EventSource.CLOSED) process.exitCode = 1;
});
