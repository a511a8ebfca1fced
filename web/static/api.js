// The HTTP API, as far as this page needs it.

// Failure is what went wrong with a request. Status 0 means that there was no
// answer: nobody knows whether the request was carried out.
export class Failure extends Error {
  constructor(status, code, message, { details, retryAfter } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter;
  }

  // passing reports whether the same request may work a little later.
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

const patience = 30_000;

async function request(method, path, body) {
  const init = {
    method,
    headers: { Accept: 'application/json' },
    credentials: 'same-origin',
    cache: 'no-store',
    signal: AbortSignal.timeout(patience),
  };
  if (body !== undefined) {
    init.headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(body);
  }
  let response;
  let data;
  try {
    response = await fetch(path, init);
    data = await response.json();
  } catch (err) {
    if (!response || (response.ok && !(err instanceof SyntaxError))) {
      throw new Failure(0, 'unreachable', 'no answer from the server');
    }
    data = {};
  }
  if (response.ok) return data;
  const { code = '', message = '', details } = data.error ?? {};
  throw new Failure(response.status, code, message || `the server answered with status ${response.status}`, {
    details,
    retryAfter: Number(response.headers.get('Retry-After')) || undefined,
  });
}

const at = (id) => `/api/sessions/${encodeURIComponent(id)}`;

function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : '';
}

export const api = {
  sessions: (cursor, limit) => request('GET', `/api/sessions${query({ limit, cursor })}`),
  create: () => request('POST', '/api/sessions', { source: { kind: 'web', interactive: true } }),
  session: async (id) => (await request('GET', at(id))).session,
  messages: (id, cursor, limit) => request('GET', `${at(id)}/messages${query({ limit, cursor })}`),
  post: (id, inputID, text) => request('POST', `${at(id)}/messages`, { text, input_id: inputID }),
  withdraw: (id, inputID) => request('DELETE', `${at(id)}/inputs/${encodeURIComponent(inputID)}`),
  cancel: (id, turn) => request('POST', `${at(id)}/cancel`, turn ? { turn_id: turn } : {}),
  approvals: async () => (await request('GET', '/api/approvals')).approvals ?? [],
  decide: (id, call, decision) =>
    request('POST', `${at(id)}/approvals/${encodeURIComponent(call)}`, { decision }),
  eventsURL: (id, after) => `${at(id)}/events${query({ after })}`,
  signOut: () => request('POST', '/logout'),
  blobURL: (handle) => `/api/blobs/${encodeURIComponent(handle)}`,
};
