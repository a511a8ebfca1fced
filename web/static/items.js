// What is shown of a conversation, one item after the other.

import { api } from './api.js';
import { h, prose } from './dom.js';
import { oneLine, plain, pretty, when } from './format.js';

// itemsOf lists the items of a conversation and of the messages that are on
// their way to it. Acts are what the buttons do.
export function itemsOf(conversation, outgoing, acts) {
  const { transcript } = conversation;
  const items = [];
  for (const entry of transcript.ordered()) items.push(...entryItems(entry, transcript, acts));
  if (transcript.stream) items.push(streamItem(transcript.stream));
  else if (transcript.turn?.state === 'running') items.push(workingItem(transcript.turn));
  for (const approval of transcript.approvals.values()) items.push(approvalItem(approval, transcript, acts));
  for (const input of transcript.waiting()) items.push(inputItem(input, 'Waiting for its turn', acts));
  for (const item of outgoing) {
    // Its event may be faster than the answer to the post.
    if (!transcript.has(item.id)) items.push(outgoingItem(item, acts));
  }
  return items;
}

function entryItems(entry, transcript, acts) {
  switch (entry.kind) {
    case 'message':
      return messageItems(entry, transcript);
    case 'input':
      return [inputItem(entry.input, '', acts)];
    case 'note':
      return [noteItem(entry, acts)];
    case 'removed':
      return [{ key: entry.key, parts: ['removed'], draw: () => h('p', { class: 'item note' }, 'A message was removed.') }];
    default:
      return [];
  }
}

function messageItems(entry, transcript) {
  const { message, key, at, undone } = entry;
  if (message.role === 'tool') return [];
  const items = [];
  const calls = (message.parts ?? []).filter((part) => part.tool_call);
  if (shows(message)) {
    items.push({ key, parts: [entry], draw: (old) => messageElement(message, { at, undone, old }) });
  }
  for (const part of calls) {
    const call = transcript.calls.get(part.tool_call.id);
    items.push({ key: `call:${call.id}`, parts: [call, undone], draw: () => callElement(call, undone) });
  }
  return items;
}

// shows reports whether there is something to read in a message beside its calls.
function shows(message) {
  if (message.role === 'system') return plain(message.parts).trim() !== '';
  return (message.parts ?? []).some((part) => part.media || (!part.note && (part.type === 'text' || part.type === 'reasoning') && part.text?.trim()));
}

function messageElement(message, { at, undone, old, busy = false }) {
  const role = message.role ?? 'assistant';
  const text = plain(message.parts);
  if (role === 'system') {
    return h('div', { class: classes('item note answer', undone) }, prose(h('div', { class: 'prose' }), text));
  }
  // A reply that becomes a stored message stays the element it was.
  const reuse = role === 'assistant' && old?.classList.contains('assistant') ? old : null;
  const element = reuse ?? h('article', { 'aria-label': role === 'user' ? 'You' : 'Agent' });
  element.className = classes(`item ${role}`, undone);
  element.toggleAttribute('data-writing', busy);
  element.setAttribute('aria-busy', String(busy));
  if (at && role === 'user') element.title = new Date(at).toLocaleString();
  const body = reuse?.querySelector('.prose') ?? h('div', { class: 'prose' });
  prose(body, text);
  const reasoning = plain(message.parts, 'reasoning');
  const thinking = reuse?.querySelector('details.thinking');
  element.replaceChildren(
    ...[
      message.sender?.name ? h('p', { class: 'who' }, message.sender.name) : null,
      reasoning ? thinkingElement(reasoning, thinking) : null,
      body,
      ...(message.parts ?? []).filter((part) => part.media).map((part) => mediaElement(part.media)),
      busy || role === 'user' ? null : metaElement(message.model, at),
    ].filter(Boolean),
  );
  return element;
}

function classes(base, undone) {
  return undone ? `${base} undone` : base;
}

function thinkingElement(text, old) {
  const element = old ?? h('details', { class: 'thinking' }, h('summary', {}, 'Thinking'), h('div', { class: 'prose' }));
  prose(element.lastChild, text);
  return element;
}

function mediaElement(media) {
  return h('p', { class: 'media' }, h('a', { href: api.blobURL(media.handle), download: media.name || true }, media.name || media.media_type));
}

function metaElement(model, at) {
  const time = when(at);
  if (!model && !time) return null;
  return h('p', { class: 'meta' }, ...[time ? h('time', { datetime: at }, time) : null, model ? h('span', {}, model) : null].filter(Boolean));
}

function streamItem(stream) {
  const message = { role: 'assistant', parts: stream.parts };
  return { key: `message:${stream.id}`, parts: [stream], draw: (old) => messageElement(message, { old, busy: true }) };
}

function workingItem(turn) {
  return { key: 'working', parts: [turn.stopping], draw: () => h('p', { class: 'item working', 'aria-hidden': 'true' }, h('i'), h('i'), h('i')) };
}

const outcomes = {
  asked: 'waits for your answer',
  running: 'running',
  unknown: 'outcome unknown',
  denied: 'denied',
  expired: 'not allowed in time',
  canceled: 'canceled',
};

function outcome(call) {
  if (outcomes[call.decision]) return outcomes[call.decision];
  if (call.result?.is_error) return 'failed';
  return outcomes[call.state] ?? '';
}

function callElement(call, undone) {
  const state = outcome(call);
  const result = call.result?.text;
  return h(
    'details',
    { class: classes('item call', undone), 'data-state': state },
    h(
      'summary',
      {},
      h('span', { class: 'tool' }, call.tool || 'tool'),
      h('span', { class: 'arguments' }, oneLine(call.arguments)),
      state ? h('span', { class: 'state' }, state) : null,
    ),
    h('pre', { tabindex: '0' }, h('code', {}, pretty(call.arguments))),
    result ? h('pre', { tabindex: '0', class: 'result' }, h('code', {}, result)) : null,
    call.result?.media ? mediaElement(call.result.media) : null,
  );
}

function approvalItem(approval, transcript, acts) {
  const id = approval.call_id;
  const call = transcript.calls.get(id);
  const answer = (decision) => (event) => {
    for (const button of event.target.closest('section').querySelectorAll('button')) button.disabled = true;
    acts.decide(id, decision);
  };
  const draw = () =>
    h(
      'section',
      { class: 'item approval', 'aria-label': `May the agent run ${approval.tool}?` },
      h('p', {}, 'The agent asks to run ', h('strong', {}, approval.tool), '.'),
      h('pre', { tabindex: '0' }, h('code', {}, pretty(call?.arguments ?? approval.arguments))),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', onclick: answer('approve') }, 'Allow'),
        h('button', { type: 'button', class: 'second', onclick: answer('deny') }, 'Deny'),
        approval.deadline ? h('span', { class: 'quiet' }, deadline(approval)) : null,
      ),
    );
  return { key: `approval:${id}`, parts: [call?.arguments, approval.attempt], draw };
}

function deadline({ deadline: at, default: answer }) {
  return `Without an answer by ${when(at)} it is ${answer === 'approved' ? 'allowed' : 'denied'}.`;
}

function noteItem(entry, acts) {
  const draw = () =>
    h(
      'p',
      { class: classes(entry.error ? 'item note error' : 'item note', entry.undone), role: entry.error ? 'alert' : undefined },
      entry.text,
      entry.next ? h('button', { type: 'button', class: 'plain', onclick: () => acts.open(entry.next) }, 'Go on in the new one') : null,
    );
  return { key: entry.key, parts: [entry], draw };
}

function inputItem(input, state, acts) {
  const draw = () =>
    h(
      'article',
      { class: state ? 'item user waiting' : 'item user', 'aria-label': 'You' },
      prose(h('div', { class: 'prose' }), input.text),
      ...input.media.map((part) => mediaElement(part.media)),
      state
        ? h('p', { class: 'meta' }, h('span', {}, state), h('button', { type: 'button', class: 'plain', onclick: () => acts.withdraw(input) }, 'Take back'))
        : null,
    );
  return { key: `input:${input.id}`, parts: [input, state], draw };
}

function outgoingItem(item, acts) {
  const refused = item.state === 'refused';
  const current = item.details?.current;
  const words = { sending: 'Sending…', retrying: `Not sent yet, trying again: ${item.error}`, refused: `Not sent: ${item.error}` };
  const act = (label, run) => h('button', { type: 'button', class: 'plain', onclick: run }, label);
  const draw = () =>
    h(
      'article',
      { class: refused ? 'item user refused' : 'item user waiting', 'aria-label': 'You' },
      prose(h('div', { class: 'prose' }), item.text),
      h(
        'p',
        { class: refused ? 'meta error' : 'meta', role: refused ? 'alert' : undefined },
        h('span', {}, words[item.state]),
        refused ? act('Try again', () => acts.again(item.id)) : null,
        refused ? act('Edit', () => acts.edit(item.id)) : null,
        refused && current ? act('Open the present one', () => acts.open(current)) : null,
      ),
    );
  return { key: `input:${item.id}`, parts: [item.state, item.error], draw };
}
