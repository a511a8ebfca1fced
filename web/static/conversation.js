// One conversation that is open: reads it, follows it, and says when there is
// something else to show.

import { api } from './api.js';
import { oneLine, plain, titleOf } from './format.js';
import { Live } from './live.js';
import { Transcript } from './transcript.js';

const page = 60;
const longestPause = 15_000;

export class Conversation {
  // changed() is told that there is something else to show, activity() that
  // the list of sessions may look different, signIn() that a sign-in is needed,
  // and moved(id) that a session that ended while it was watched goes on there.
  constructor(id, { changed, activity, signIn, moved }) {
    Object.assign(this, { id, changed, activity, signIn, moved });
    this.session = null;
    this.transcript = new Transcript();
    this.cursor = '';
    this.connected = true;
    this.problem = ''; // why it cannot be shown
    this.notice = ''; // what an action failed with
    this.loaded = false;
    this.failures = 0;
    this.closed = false;
    this.live = new Live({
      url: () => api.eventsURL(this.id, this.transcript.seq),
      event: (event) => this.#event(event),
      state: (open) => this.#state(open),
      lost: () => this.#lost(),
    });
  }

  // title names the conversation: as people called it, else by how it began, which
  // does not change with each message.
  title() {
    if (this.session?.title || this.cursor) return titleOf(this.session);
    const first = this.transcript.ordered().find((entry) => entry.message?.role === 'user' || entry.input);
    const words = first && oneLine(first.input?.text ?? plain(first.message.parts), 80);
    return words || titleOf({});
  }

  close() {
    this.closed = true;
    this.pause();
  }

  // pause ends the stream; open goes on from where it was.
  pause() {
    clearTimeout(this.timer);
    this.live.close();
  }

  open() {
    if (this.loaded) this.live.open();
    else this.load();
  }

  hurry() {
    if (this.loaded) this.live.hurry();
    else this.load();
  }

  // load reads the conversation anew, and follows it from there. What was shown
  // stays until then.
  async load() {
    this.pause();
    const round = (this.round = (this.round ?? 0) + 1);
    try {
      const session = await api.session(this.id);
      const [{ messages, cursor }, approvals] = await Promise.all([api.messages(this.id, undefined, page), api.approvals()]);
      if (this.closed || round !== this.round) return;
      const transcript = new Transcript();
      transcript.begin(session, messages ?? [], Boolean(cursor && messages?.length));
      for (const approval of approvals) if (approval.session_id === this.id) transcript.question(approval);
      Object.assign(this, { session, transcript, cursor: cursor ?? '', loaded: true, problem: '', connected: true });
      this.changed();
      this.live.open();
    } catch (failure) {
      if (!this.closed && round === this.round) this.#unloaded(failure);
    }
  }

  #unloaded(failure) {
    if (failure.status === 401) {
      this.signIn();
    } else if (failure.passing) {
      this.#again();
    } else {
      this.problem = gone(failure);
    }
    this.changed();
  }

  // again reads anew a little later.
  #again() {
    this.loaded = false;
    this.connected = false;
    const pause = Math.min(500 * 2 ** this.failures, longestPause);
    this.failures += 1;
    this.timer = setTimeout(() => this.load(), pause);
  }

  async older() {
    const { messages, cursor } = await api.messages(this.id, this.cursor, page);
    this.transcript.older(messages ?? []);
    this.cursor = cursor ?? '';
    this.changed();
  }

  #event(event) {
    const before = this.transcript;
    if (!before.apply(event)) {
      this.#resync(event);
      return;
    }
    if (event.seq) {
      this.failures = 0;
      this.activity();
      if (event.type === 'session:turn_completed' || event.type === 'session:updated') this.look();
      if (event.type === 'session:ended' && before.next && event.seq > this.session.last_seq) this.moved(before.next);
    }
    if (before.removed) {
      this.problem = 'This conversation was deleted.';
      this.close();
    }
    this.changed();
  }

  // The server cannot go on from where this page was, or a piece is missing.
  #resync(event) {
    this.live.close();
    if (event.data?.reason === 'restored') this.notice = 'The server was restored from a backup; this is what it has.';
    this.#again();
    this.changed();
  }

  // look reads the session alone: its title, and whether anything still waits.
  async look() {
    try {
      const session = await api.session(this.id);
      if (this.closed) return;
      this.session = session;
      if (session.status === 'idle' && session.queued === 0) this.transcript.settleAll(session.last_seq);
      this.changed();
    } catch (failure) {
      if (failure.status === 401) this.signIn();
    }
  }

  #state(open) {
    this.connected = open;
    this.changed();
  }

  async #lost() {
    try {
      await api.session(this.id);
    } catch (failure) {
      if (failure.passing) return;
      if (failure.status === 401) {
        this.loaded = false;
        this.signIn();
      } else {
        this.problem = gone(failure);
        this.changed();
      }
      throw failure;
    }
  }

  // act runs what a person asked for, and says what it failed with.
  async act(action) {
    this.notice = '';
    try {
      return await action();
    } catch (failure) {
      if (failure.status === 401) this.signIn();
      else this.notice = failure.message;
    } finally {
      this.changed();
    }
    return undefined;
  }

  async stop() {
    const turn = this.transcript.turn;
    if (!turn || turn.stopping) return;
    turn.stopping = true;
    await this.act(async () => {
      try {
        await api.cancel(this.id, turn.id);
      } catch (failure) {
        turn.stopping = false;
        throw failure;
      }
    });
  }

  // decide answers a question. If another answer was first, that one counts.
  async decide(call, decision) {
    await this.act(async () => {
      try {
        await api.decide(this.id, call, decision);
        this.transcript.resolve(call, decision === 'approve' ? 'approved' : 'denied');
      } catch (failure) {
        if (failure.status !== 409) throw failure;
        this.transcript.resolve(call, failure.details?.outcome ?? '');
        throw failure;
      }
    });
  }

  // withdraw takes back a message that waits, and gives its text.
  async withdraw(input) {
    return this.act(async () => {
      const { withdrawn } = await api.withdraw(this.id, input.id);
      if (!withdrawn) {
        this.notice = 'This message does not wait any more.';
        return '';
      }
      this.transcript.withdraw(input.id);
      return input.text;
    });
  }
}

function gone(failure) {
  if (failure.status === 404) return 'This conversation does not exist, or is not yours to see.';
  return failure.message;
}
