// Texts for people. Nothing here touches the page.

const fence = /^ {0,3}(```+|~~~+)\s*([^\s`]*)[^`]*$/;

// blocks splits a text into paragraphs and fenced code. A fence that is not
// closed, as in a reply that is still being written, goes to the end.
export function blocks(text) {
  const out = [];
  let lines = [];
  let code = null;
  const paragraph = () => {
    const joined = lines.join('\n').trim();
    if (joined) out.push({ kind: 'text', text: joined });
    lines = [];
  };
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    if (code) {
      if (closes(line, code.mark)) {
        out.push({ kind: 'code', lang: code.lang, text: lines.join('\n') });
        lines = [];
        code = null;
      } else {
        lines.push(line);
      }
      continue;
    }
    const opening = fence.exec(line);
    if (opening) {
      paragraph();
      code = { mark: opening[1], lang: opening[2] };
    } else if (line.trim() === '') {
      paragraph();
    } else {
      lines.push(line);
    }
  }
  if (code) out.push({ kind: 'code', lang: code.lang, text: lines.join('\n') });
  else paragraph();
  return out;
}

function closes(line, mark) {
  const bare = line.trim();
  return bare.length >= mark.length && bare === mark[0].repeat(bare.length);
}

// spans splits a paragraph into plain text and `code`.
export function spans(text) {
  return text
    .split(/(`[^`\n]+`)/)
    .filter((piece) => piece !== '')
    .map((piece) =>
      piece.length > 2 && piece.startsWith('`') && piece.endsWith('`')
        ? { code: true, text: piece.slice(1, -1) }
        : { code: false, text: piece },
    );
}

// plain gives what somebody wrote: the text parts, without the runtime's notes.
export function plain(parts, kind = 'text') {
  return (parts ?? [])
    .filter((part) => part.type === kind && !part.note)
    .map((part) => part.text ?? '')
    .join(kind === 'text' ? '\n' : '');
}

// oneLine gives the arguments of a call in short, for a line that is cut anyway.
export function oneLine(value, most = 160) {
  const text = brief(value).replace(/\s+/g, ' ').trim();
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

function brief(value) {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(' ');
  if (value === null || typeof value !== 'object') return value === undefined ? '' : String(value);
  const fields = Object.entries(value);
  if (fields.length === 1) return brief(fields[0][1]);
  return fields.map(([name, one]) => `${name}: ${typeof one === 'object' ? JSON.stringify(one) : one}`).join(', ');
}

// pretty gives arguments as people read them best.
export function pretty(value) {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {}, null, 2);
}

// when gives a time as a list shows it: the hour today, else the day.
export function when(iso, now = new Date()) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  if (date.toDateString() === now.toDateString()) {
    return date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  }
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return date.toLocaleDateString([], { day: 'numeric', month: 'short', year });
}

// titleOf names a session.
export function titleOf(session) {
  return session.title || session.preview || 'New conversation';
}

// ending says how a turn ended, or nothing if it ended well.
export function ending({ stop_reason: reason, error } = {}) {
  if (error) return { error: true, text: error.message || `The turn failed (${error.code}).` };
  switch (reason) {
    case 'aborted':
      return { error: false, text: 'Stopped.' };
    case 'length':
      return { error: true, text: 'The answer was cut off: it reached the limit of the model.' };
    case 'content_filter':
      return { error: true, text: 'The provider of the model held the answer back.' };
    case 'error':
      return { error: true, text: 'The turn failed.' };
    default:
      return null;
  }
}
