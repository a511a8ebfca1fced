// The page: which conversation is open, what a person writes, whether there is a
// sign-in.

import { api } from './api.js';
import { Conversation } from './conversation.js';
import { Keyed } from './dom.js';
import { itemsOf } from './items.js';
import { List } from './list.js';
import { Outbox } from './outbox.js';

const find = (id) => document.getElementById(id);
const [log, text, send, stop, banner, down] = ['log', 'text', 'send', 'stop', 'banner', 'down'].map(find);
const items = new Keyed(find('items'));

const restless = 700; // how long a stream may be down before the page says so
const hiddenFor = 60_000; // how long a page in the background keeps its stream

let conversation = null;
let notice = ''; // what went wrong before there was a conversation
let creating = false;
let sentCommand = false; // the last thing sent here may have started a new conversation
let downSince = 0;
let frame = 0;

const list = new List({ signIn, loaded: signedIn });
const outbox = new Outbox({
  post: (item) => api.post(item.session, item.id, item.text),
  changed: () => draw(),
  accepted: (item, receipt) => {
    if (conversation?.id === item.session) conversation.transcript.receipt(receipt, item.text);
    list.touch();
  },
  signIn,
});

const acts = {
  decide: (call, decision) => conversation.decide(call, decision),
  open: (id) => go(id),
  again: (id) => outbox.again(id),
  edit: (id) => refill(outbox.discard(id)?.text),
  withdraw: async (input) => refill(await conversation.withdraw(input)),
};

function refill(words) {
  if (!words) return;
  text.value = text.value.trim() ? `${text.value}\n${words}` : words;
  grow();
  text.focus();
}

// --- where the page is

function go(id) {
  location.hash = id ? `#/s/${encodeURIComponent(id)}` : '#/new';
}

function route() {
  const [, kind, rest] = location.hash.split('/');
  document.body.dataset.view = kind ? 'talk' : 'list';
  const id = kind === 's' && rest ? decodeURIComponent(rest) : '';
  if (conversation?.id === id) return;
  conversation?.close();
  conversation = id ? new Conversation(id, { changed: draw, activity: () => list.touch(), signIn, moved }) : null;
  notice = '';
  sentCommand = false;
  follow = true;
  list.select(id);
  conversation?.open();
  draw();
  if (kind && matchMedia('(pointer: fine)').matches) text.focus();
}

// moved follows a conversation to the one that took its place, if a person asked
// for that here.
function moved(next) {
  if (sentCommand) go(next);
}

// --- what is shown

let follow = true; // whether the newest message stays in view

function draw() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    drawNow();
  });
}

function drawNow() {
  const outgoing = conversation ? outbox.of(conversation.id) : [];
  const turn = conversation?.transcript.turn;
  const title = conversation?.title() ?? 'New conversation';
  find('title').textContent = title;
  document.title = conversation ? `${title} · Parley` : 'Parley';
  find('status').textContent = status(turn);
  find('older').hidden = !conversation?.cursor;
  items.show(conversation && !conversation.problem ? itemsOf(conversation, outgoing, acts) : []);
  drawEmpty();
  drawBanner();
  stop.hidden = !turn;
  stop.disabled = Boolean(turn?.stopping);
  stop.textContent = turn?.stopping ? 'Stopping…' : 'Stop';
  send.disabled = creating || Boolean(conversation?.problem);
  text.disabled = Boolean(conversation?.problem);
  if (follow) log.scrollTop = log.scrollHeight;
  down.hidden = follow;
}

function status(turn) {
  if (!turn) return '';
  const waiting = conversation.transcript.waiting().length;
  const words = turn.state === 'awaiting_approval' ? 'needs your answer' : 'working';
  return waiting ? `${words}, ${waiting} waiting` : words;
}

function drawEmpty() {
  const empty = find('empty');
  empty.hidden = Boolean(conversation) && (!conversation.loaded || find('items').childElementCount > 0) && !conversation.problem;
  empty.textContent = conversation?.problem || (conversation ? 'Nothing was said here yet.' : 'What is on your mind?');
  empty.classList.toggle('greeting', !conversation);
}

function drawBanner() {
  const lost = conversation && !conversation.problem && !conversation.connected;
  if (!lost) downSince = 0;
  else if (!downSince) {
    downSince = Date.now();
    setTimeout(draw, restless);
  }
  const words = lost && Date.now() - downSince >= restless ? 'Connection lost, trying again…' : notice || conversation?.notice || '';
  banner.hidden = !words;
  banner.dataset.kind = lost ? 'lost' : 'error';
  if (banner.textContent !== words) banner.textContent = words;
}

log.addEventListener('scroll', () => {
  follow = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  down.hidden = follow;
});
down.addEventListener('click', () => {
  follow = true;
  draw();
});
find('older').addEventListener('click', async (event) => {
  const button = event.target;
  const from = log.scrollHeight - log.scrollTop;
  button.disabled = true;
  follow = false;
  await conversation.act(() => conversation.older());
  drawNow();
  log.scrollTop = log.scrollHeight - from;
  button.disabled = false;
});

// --- what a person writes

function grow() {
  text.style.height = 'auto';
  text.style.height = `${Math.min(text.scrollHeight + 2, 0.4 * innerHeight)}px`;
}

async function submit() {
  const words = text.value.trim();
  if (!words || send.disabled) return;
  const id = conversation?.id ?? (await create());
  if (!id) return;
  text.value = '';
  grow();
  follow = true;
  outbox.add(id, words);
  if (conversation?.id !== id) location.replace(`#/s/${encodeURIComponent(id)}`);
  sentCommand = /^\/(new|reset)\b/.test(words);
}

// create starts a conversation. One whose answer was lost stays behind empty, so
// this is not repeated without being asked to.
async function create() {
  creating = true;
  notice = '';
  draw();
  try {
    return (await api.create()).session.id;
  } catch (failure) {
    if (failure.status === 401) signIn();
    else notice = `No conversation could be started: ${failure.message}`;
    return '';
  } finally {
    creating = false;
    draw();
  }
}

find('compose').addEventListener('submit', (event) => {
  event.preventDefault();
  submit();
});
text.addEventListener('input', grow);
text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  submit();
});
stop.addEventListener('click', () => conversation?.stop());

// --- the sign-in, and the page in the background

function signIn() {
  const panel = find('signin');
  if (!panel.hidden) return;
  panel.hidden = false;
  for (const id of ['side', 'talk']) find(id).inert = true;
  find('signin-title').focus();
}

function signedIn() {
  const panel = find('signin');
  if (panel.hidden) return;
  panel.hidden = true;
  for (const id of ['side', 'talk']) find(id).inert = false;
  conversation?.open();
  outbox.resume();
  text.focus();
}

// After a sign-out nothing of what was shown or written stays in the page.
find('signout').addEventListener('click', async () => {
  try {
    await api.signOut();
  } catch (failure) {
    if (failure.status !== 401) {
      notice = `You are still signed in: ${failure.message}`;
      draw();
      return;
    }
  }
  sessionStorage.clear();
  location.replace('/');
});
find('signin-again').addEventListener('click', () => list.start());

let napping;
document.addEventListener('visibilitychange', () => {
  clearTimeout(napping);
  if (document.hidden) {
    list.stop();
    napping = setTimeout(() => conversation?.pause(), hiddenFor);
    return;
  }
  list.start();
  if (conversation?.live.source) conversation.hurry();
  else conversation?.open();
});
addEventListener('online', () => {
  conversation?.hurry();
  outbox.resume();
});
addEventListener('hashchange', route);

route();
list.start();
outbox.resume();
