// A conversation as it is known so far, put together from stored messages,
// events and the deltas of a running reply. Nothing here touches the page or
// the network.

import { ending, plain } from './format.js';

export class Transcript {
  constructor() {
    this.seq = 0; // of the last event that was applied
    this.entries = new Map(); // key -> what is shown at a seq: messages, notes, commands
    this.calls = new Map(); // call id -> how far the call is
    this.inputs = new Map(); // input id -> what was admitted and not shown yet
    this.shown = new Set(); // ids of inputs that a message shows
    this.approvals = new Map(); // call id -> a question that is open
    this.stream = null; // the reply that is being written
    this.turn = null; // {id, state, stopping}
    this.next = ''; // the session that took this one's place
    this.removed = false;
  }

  // begin takes a session, and the newest page of its messages, read after it;
  // older says whether there are older ones. Events are expected from the first
  // message on, so that what lies between them is known as well, and in any case
  // all that the session did not have.
  begin(session, messages, older) {
    this.older(messages);
    this.seq = older ? Math.min(messages[0].seq - 1, session.last_seq) : 0;
    if (session.status === 'running' || session.status === 'awaiting_approval') {
      this.turn = { id: '', state: session.status };
    }
  }

  // older takes a page of stored messages.
  older(messages) {
    for (const message of messages) this.#message(message, message.seq, message.at);
  }

  // apply takes what came over the stream. It returns false if the page has to
  // read anew.
  apply(event) {
    const { type, seq, data = {} } = event;
    if (seq) {
      if (seq <= this.seq) return true;
      this.seq = seq;
      this.#stored(event, data);
      return true;
    }
    switch (type) {
      case 'session:delta':
        return this.#delta(data);
      case 'session:snapshot':
        this.#snapshot(data);
        return true;
      case 'session:resync':
        return false;
      default:
        return true;
    }
  }

  #stored({ type, seq, at, turn_id: turn }, data) {
    if (turn && this.turn && !this.turn.id) this.turn = { ...this.turn, id: turn };
    switch (type) {
      case 'session:input':
        this.#input(data, seq, at);
        break;
      case 'session:message':
        this.#message(data, seq, at);
        break;
      case 'session:turn_started':
        if (this.stream) this.#note(seq, at, 'The answer was interrupted and is taken up again.');
        this.stream = null;
        this.turn = { id: turn, state: 'running' };
        break;
      case 'session:turn_completed':
        this.#completed(data, seq, at);
        break;
      case 'session:tool_started':
        this.#call(data.call_id, { tool: data.tool, state: 'running' });
        break;
      case 'session:tool_completed':
        this.#call(data.call_id, { tool: data.tool, state: data.state });
        break;
      case 'session:approval_requested':
        this.#ask({ ...data, requested_at: at }, turn);
        break;
      case 'session:approval_resolved':
        this.resolve(data.call_id, data.state);
        break;
      case 'agent:directive_injected':
        for (const id of data.input_ids ?? []) this.settle(id);
        break;
      case 'session:rewound':
        this.#rewind(data, seq, at);
        break;
      case 'session:redacted':
        this.#redact(data.seqs ?? []);
        break;
      case 'session:suspended':
        this.#note(seq, at, 'This conversation was interrupted several times and is paused. Write a message to go on.', true);
        break;
      case 'session:delivery_failed':
        this.#note(seq, at, `The answer could not be brought to ${data.channel}: ${data.reason}`, true);
        break;
      case 'session:reset':
        this.#note(seq, at, 'A fresh start: what was said before is in an older conversation.');
        break;
      case 'session:ended':
        this.next = data.next ?? '';
        this.#note(seq, at, 'This conversation has ended.', false, this.next);
        break;
      case 'session:resumed':
        this.next = '';
        break;
      case 'session:deleted':
        this.removed = true;
        break;
    }
  }

  // A stored message closes its stream, and shows the inputs it names.
  #message(message, seq, at) {
    const id = message.id || `removed-${seq}`;
    const key = `message:${id}`;
    for (const input of message.input_ids ?? []) {
      if (message.role === 'user') {
        this.shown.add(input);
        this.inputs.delete(input);
      } else {
        this.settle(input); // it is the answer to a command, which stays where it is
      }
    }
    if (this.stream?.id === id) this.stream = null;
    if (this.entries.has(key)) return;
    for (const part of message.parts ?? []) {
      if (part.tool_call) this.#call(part.tool_call.id, { tool: part.tool_call.name, arguments: part.tool_call.arguments });
      if (part.tool_result) this.#result(part.tool_result);
    }
    const kind = message.redacted ? 'removed' : 'message';
    this.entries.set(key, { key, kind, seq, at, message: { ...message, id } });
  }

  #input(data, seq, at) {
    if (data.input_id === undefined || this.shown.has(data.input_id)) return;
    const known = this.inputs.get(data.input_id);
    const input = {
      id: data.input_id,
      seq,
      at,
      kind: data.kind,
      text: plain(data.parts),
      media: (data.parts ?? []).filter((part) => part.media),
      settled: known?.settled || (data.kind !== 'message' && data.kind !== undefined),
      by: data.sender?.name,
    };
    if (data.kind === 'automation' || data.kind === 'recovery') return;
    this.inputs.set(input.id, input);
  }

  // receipt takes the answer to a post, which may come before or after the
  // input's event.
  receipt({ input_id: id, state }, text) {
    if (this.shown.has(id) || state === 'dropped') return;
    const known = this.inputs.get(id) ?? { id, seq: this.seq, text, media: [], kind: 'message' };
    const settled = known.settled || (state !== 'queued' && state !== 'running');
    this.inputs.set(id, { ...known, settled });
  }

  // settle says that an input does not wait any more.
  settle(id) {
    const input = this.inputs.get(id);
    if (input) this.inputs.set(id, { ...input, settled: true });
  }

  // settleAll says that nothing waits: the session was seen idle, up to seq.
  settleAll(seq) {
    for (const input of this.inputs.values()) if (input.seq <= seq) this.settle(input.id);
  }

  withdraw(id) {
    this.inputs.delete(id);
  }

  #completed(data, seq, at) {
    this.stream = null;
    this.turn = null;
    this.approvals.clear();
    for (const call of this.calls.values()) {
      if (call.state === 'running' || call.state === 'asked') this.#call(call.id, { state: 'unknown' });
    }
    const end = ending(data);
    if (end) this.#note(seq, at, end.text, end.error);
  }

  #note(seq, at, text, error = false, next = '') {
    const key = `note:${seq}`;
    this.entries.set(key, { key, kind: 'note', seq, at, text, error, next });
  }

  #call(id, change) {
    const known = this.calls.get(id) ?? { id, tool: '', state: '', rev: 0 };
    // A call that has its result does not run any more, whatever comes late.
    const state = known.result ? known.state : (change.state ?? known.state);
    this.calls.set(id, { ...known, ...change, state, rev: known.rev + 1 });
  }

  #result(result) {
    this.approvals.delete(result.call_id);
    this.#call(result.call_id, { result, state: result.unknown ? 'unknown' : 'finished' });
  }

  #ask(approval, turn) {
    this.turn = { ...this.turn, id: turn ?? this.turn?.id ?? '', state: 'awaiting_approval' };
    this.question(approval);
  }

  // question takes an approval that is open.
  question(approval) {
    const known = this.calls.get(approval.call_id);
    if (known?.result || known?.decision) return;
    this.approvals.set(approval.call_id, approval);
    this.#call(approval.call_id, { tool: approval.tool, state: 'asked' });
  }

  // resolve takes the answer to a question. The first one counts: it comes as an
  // event and as the answer to a request, in either order.
  resolve(id, decision) {
    this.approvals.delete(id);
    if (this.calls.get(id)?.decision) return;
    this.#call(id, { decision, state: '' });
    if (this.turn && this.approvals.size === 0) this.turn = { ...this.turn, state: 'running' };
  }

  #rewind({ to_seq: to, turns }, seq, at) {
    for (const entry of this.entries.values()) {
      if (entry.seq > to && entry.seq < seq) this.entries.set(entry.key, { ...entry, undone: true });
    }
    this.#note(seq, at, turns === 1 ? 'The last turn was undone.' : `${turns} turns were undone.`);
  }

  #redact(seqs) {
    for (const entry of this.entries.values()) {
      if (seqs.includes(entry.seq)) this.entries.set(entry.key, { ...entry, kind: 'removed' });
    }
    for (const input of this.inputs.values()) if (seqs.includes(input.seq)) this.inputs.delete(input.id);
  }

  // A delta goes on where the last one ended; one that is known already is left
  // out, and one that leaves a gap means to read anew.
  #delta({ stream, n, kind, text }) {
    if (this.entries.has(`message:${stream}`)) return true;
    if (this.stream?.id !== stream) {
      if (n !== 1) return false;
      this.stream = { id: stream, n: 0, parts: [] };
    }
    if (n <= this.stream.n) return true;
    if (n !== this.stream.n + 1) return false;
    const parts = this.stream.parts.slice();
    const last = parts.at(-1);
    if (last?.type === kind) parts[parts.length - 1] = { ...last, text: last.text + text };
    else parts.push({ type: kind, text });
    this.stream = { id: stream, n, parts };
    return true;
  }

  #snapshot({ stream, n, parts }) {
    if (this.entries.has(`message:${stream}`)) return;
    if (this.stream?.id === stream && this.stream.n >= n) return;
    this.stream = { id: stream, n, parts: (parts ?? []).map((part) => ({ ...part, text: part.text ?? '' })) };
  }

  // has reports whether an input is known to the session.
  has(id) {
    return this.inputs.has(id) || this.shown.has(id);
  }

  // waiting lists the inputs that wait for their turn, the first first.
  waiting() {
    if (!this.turn) return [];
    return [...this.inputs.values()].filter((input) => !input.settled).sort((a, b) => a.seq - b.seq);
  }

  // ordered lists what is shown up to the running reply, the oldest first.
  ordered() {
    const waiting = new Set(this.waiting());
    const rest = [...this.inputs.values()]
      .filter((input) => !waiting.has(input))
      .map((input) => ({ key: `input:${input.id}`, kind: 'input', seq: input.seq, at: input.at, input }));
    return [...this.entries.values(), ...rest].sort((a, b) => a.seq - b.seq);
  }
}
