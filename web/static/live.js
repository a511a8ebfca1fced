// The event stream of one session. The browser reconnects by itself, and tells
// the server the last id it had; where it gives up, this goes on.

const types = [
  'session:started', 'session:updated', 'session:input', 'session:message', 'session:turn_started', 'session:tool_started',
  'session:tool_completed', 'session:approval_requested', 'session:approval_resolved', 'session:turn_completed',
  'session:reset', 'session:resumed', 'session:suspended', 'session:rewound', 'session:forked', 'session:promoted',
  'session:redacted', 'session:checkpointed', 'session:delivery_failed', 'session:participant', 'session:ended',
  'session:deleted', 'agent:directive_injected', 'agent:context_compacted', 'agent:context_cleared',
  'session:delta', 'session:snapshot', 'session:status', 'session:resync',
];

const longestPause = 15_000;

export class Live {
  // url() gives where to go on from. event(e) is told what comes; state(open)
  // whether the stream stands; lost() why the server does not give it, by
  // asking: if it throws, the stream ends for good.
  constructor({ url, event, state, lost }) {
    Object.assign(this, { url, event, state, lost });
    this.failures = 0;
  }

  open() {
    this.close();
    const source = new EventSource(this.url());
    this.source = source;
    for (const type of types) {
      source.addEventListener(type, (message) => {
        if (this.source === source) this.event(JSON.parse(message.data));
      });
    }
    source.onopen = () => {
      if (this.source !== source) return;
      this.failures = 0;
      this.state(true);
    };
    source.onerror = () => {
      if (this.source !== source) return;
      this.state(false);
      if (source.readyState === EventSource.CLOSED) this.#later(source);
    };
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  // hurry tries again at once, if the stream is down.
  hurry() {
    if (this.source && this.source.readyState !== EventSource.OPEN) this.open();
  }

  #later(source) {
    const pause = Math.min(500 * 2 ** this.failures, longestPause);
    this.failures += 1;
    this.timer = setTimeout(async () => {
      try {
        await this.lost();
      } catch {
        return;
      }
      if (this.source === source) this.open();
    }, pause);
  }
}
