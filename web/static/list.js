// The list of conversations. It is read anew when something happened in the open
// one, when the page comes to the front, and now and then: one event stream per
// page is enough, as browsers allow few connections to a server.

import { api } from './api.js';
import { h, Keyed } from './dom.js';
import { titleOf, when } from './format.js';

const page = 50;
const often = 10_000;
const soon = 400;

const states = { running: 'Working', awaiting_approval: 'Needs you' };

export class List {
  constructor({ signIn, loaded }) {
    Object.assign(this, { signIn, loaded });
    this.sessions = [];
    this.current = '';
    this.limit = page;
    this.keyed = new Keyed(document.querySelector('#sessions'));
    this.note = document.querySelector('#sessions-note');
    this.more = document.querySelector('#sessions-more');
    this.more.addEventListener('click', () => {
      this.limit += page;
      this.read();
    });
  }

  // start reads the list, and goes on doing so while the page is in front.
  start() {
    clearTimeout(this.timer);
    this.read();
  }

  stop() {
    clearTimeout(this.timer);
  }

  // touch says that the list may have changed.
  touch() {
    this.#plan(soon);
  }

  select(id) {
    this.current = id;
    this.draw();
  }

  #plan(pause) {
    clearTimeout(this.timer);
    if (!document.hidden) this.timer = setTimeout(() => this.read(), pause);
  }

  async read() {
    const round = (this.round = (this.round ?? 0) + 1);
    this.#plan(often);
    let found;
    try {
      found = await this.#pages();
    } catch (failure) {
      if (round !== this.round) return;
      if (failure.status === 401) this.signIn();
      else this.note.textContent = `The list cannot be read: ${failure.message}`;
      return;
    }
    if (round !== this.round) return;
    this.sessions = found.sessions;
    this.more.hidden = !found.cursor;
    this.note.textContent = this.sessions.length ? '' : 'No conversations yet.';
    this.loaded();
    this.draw();
  }

  async #pages() {
    const sessions = [];
    let cursor;
    do {
      const answer = await api.sessions(cursor, page);
      sessions.push(...(answer.sessions ?? []));
      cursor = answer.cursor || undefined;
    } while (cursor && sessions.length < this.limit);
    return { sessions, cursor };
  }

  draw() {
    const today = new Date().toDateString();
    this.keyed.show(
      this.sessions.map((session) => {
        const title = titleOf(session);
        const here = session.id === this.current;
        const state = states[session.status] ?? '';
        return {
          key: session.id,
          parts: [title, session.preview, session.updated_at, state, here, today],
          draw: () => row(session, { title, here, state }),
        };
      }),
    );
  }
}

function row(session, { title, here, state }) {
  const preview = session.preview && session.preview !== title ? session.preview : '';
  return h(
    'li',
    {},
    h(
      'a',
      { href: `#/s/${encodeURIComponent(session.id)}`, 'aria-current': here ? 'page' : undefined },
      h('span', { class: 'name' }, title),
      h('time', { datetime: session.updated_at }, when(session.updated_at)),
      preview || state
        ? h('span', { class: 'preview' }, state ? h('em', { 'data-state': session.status }, state) : null, preview)
        : null,
    ),
  );
}
