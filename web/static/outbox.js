// Messages that the server has not acknowledged yet. Each has an id of its own
// from the start and is posted under it until there is an answer, so one whose
// answer was lost is not there twice. They outlive a reload of the page.

const shelf = 'parley.outbox';
const longestPause = 20_000;

export class Outbox {
  // post(item) posts one; changed(session) is told that what waits has changed;
  // accepted(item, receipt) that one is durable; signIn() that a sign-in is
  // needed first.
  constructor({ post, changed, accepted, signIn, storage = sessionStorage }) {
    Object.assign(this, { post, changed, accepted, signIn, storage });
    this.items = this.#read();
    this.busy = new Set(); // sessions whose messages are on their way
    this.timers = new Map();
  }

  // resume posts what waits, at once.
  resume() {
    for (const session of new Set(this.items.map((item) => item.session))) {
      clearTimeout(this.timers.get(session));
      this.timers.delete(session);
      this.#run(session);
    }
  }

  add(session, text) {
    const item = { id: newID(), session, text, state: 'sending', attempts: 0 };
    this.items.push(item);
    this.#changed(session);
    this.#run(session);
    return item;
  }

  of(session) {
    return this.items.filter((item) => item.session === session);
  }

  again(id) {
    const item = this.items.find((one) => one.id === id);
    if (!item) return;
    item.state = 'sending';
    this.#changed(item.session);
    this.#run(item.session);
  }

  // discard forgets a message that was refused.
  discard(id) {
    const item = this.items.find((one) => one.id === id);
    this.items = this.items.filter((one) => one !== item);
    if (item) this.#changed(item.session);
    return item;
  }

  // One message of a session is on its way at a time, so they arrive in order.
  async #run(session) {
    if (this.busy.has(session) || this.timers.has(session)) return;
    this.busy.add(session);
    try {
      for (let item = this.#head(session); item; item = this.#head(session)) {
        if (!(await this.#send(item))) return;
      }
    } finally {
      this.busy.delete(session);
    }
  }

  #head(session) {
    return this.items.find((item) => item.session === session && item.state !== 'refused');
  }

  // send posts one, and reports whether the next may follow.
  async #send(item) {
    try {
      const receipt = await this.post(item);
      this.items = this.items.filter((one) => one !== item);
      this.accepted(item, receipt);
      this.#changed(item.session);
      return true;
    } catch (failure) {
      item.error = failure.message;
      if (failure.status === 401) {
        item.state = 'retrying';
        this.#changed(item.session);
        this.signIn();
        return false;
      }
      if (!failure.passing) {
        item.state = 'refused';
        item.details = failure.details;
        this.#changed(item.session);
        return true;
      }
      item.state = 'retrying';
      this.#later(item, failure.retryAfter);
      this.#changed(item.session);
      return false;
    }
  }

  #later(item, retryAfter) {
    const pause = retryAfter ? retryAfter * 1000 : Math.min(500 * 2 ** item.attempts, longestPause);
    item.attempts += 1;
    const timer = setTimeout(() => {
      this.timers.delete(item.session);
      this.#run(item.session);
    }, pause);
    this.timers.set(item.session, timer);
  }

  #changed(session) {
    const kept = this.items.map(({ id, session: of, text }) => ({ id, session: of, text }));
    try {
      this.storage.setItem(shelf, JSON.stringify(kept));
    } catch {
      // A full or forbidden storage only means that a reload forgets them.
    }
    this.changed(session);
  }

  #read() {
    try {
      const kept = JSON.parse(this.storage.getItem(shelf) ?? '[]');
      return kept.map(({ id, session, text }) => ({ id, session, text, state: 'sending', attempts: 0 }));
    } catch {
      return [];
    }
  }
}

// newID makes an id that nobody else has, and that tells other surfaces where the
// message came from. Browsers keep randomUUID from pages
// that came over plain HTTP from another machine.
function newID() {
  if (crypto.randomUUID) return `web-${crypto.randomUUID()}`;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `web-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
