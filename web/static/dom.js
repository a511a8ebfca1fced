// Making elements. Text always goes in as text: nothing on this page is parsed
// as HTML.

import { blocks, spans } from './format.js';

// h makes an element. Properties that begin with "on" are listeners.
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false || value === '') continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'class') element.className = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function block({ kind, lang, text }) {
  if (kind === 'code') return h('pre', { tabindex: '0', 'data-lang': lang }, h('code', {}, text));
  return h('p', {}, ...spans(text).map((span) => (span.code ? h('code', {}, span.text) : span.text)));
}

// prose shows a text inside of an element. Blocks that are shown already stay, so
// a growing text only changes its end.
export function prose(element, text) {
  const next = blocks(text);
  const drawn = element.drawn ?? [];
  next.forEach((one, i) => {
    const old = drawn[i];
    if (old && old.kind === one.kind && old.text === one.text && old.lang === one.lang) return;
    const made = block(one);
    if (i < element.childNodes.length) element.replaceChild(made, element.childNodes[i]);
    else element.append(made);
  });
  while (element.childNodes.length > next.length) element.lastChild.remove();
  element.drawn = next;
  return element;
}

// Keyed keeps the children of an element in step with a list of items, each with
// a key, what it shows (compared by parts), and how it is made or changed.
export class Keyed {
  constructor(parent) {
    this.parent = parent;
    this.known = new Map();
  }

  show(items) {
    const elements = new Map(items.map((item) => [item.key, this.#element(item)]));
    for (const [key, { element }] of this.known) {
      if (elements.has(key)) continue;
      element.remove();
      this.known.delete(key);
    }
    let place = this.parent.firstChild;
    for (const element of elements.values()) {
      if (element === place) place = place.nextSibling;
      else this.parent.insertBefore(element, place);
    }
  }

  #element(item) {
    const old = this.known.get(item.key);
    if (old && old.parts.length === item.parts.length && old.parts.every((part, i) => part === item.parts[i])) {
      return old.element;
    }
    const element = item.draw(old?.element);
    if (old && old.element !== element) {
      keepOpen(old.element, element);
      old.element.replaceWith(element);
    }
    this.known.set(item.key, { element, parts: item.parts });
    return element;
  }
}

// keepOpen leaves unfolded what a person has unfolded.
function keepOpen(from, to) {
  if (from.open !== undefined) to.open = from.open;
  const inner = to.querySelectorAll('details');
  from.querySelectorAll('details').forEach((details, i) => {
    if (inner[i]) inner[i].open = details.open;
  });
}
