// Elements without markup: everything is made here, and text is only ever a text node, so data cannot become markup.

/** Creates an element. Properties: `class`, `on` (listeners by event), `data`, true and false, else attributes. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  return add(element, children);
}

/** Creates an element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return add(element, children);
}

function set(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name === 'on') {
    for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
  } else if (name === 'data') {
    Object.assign(element.dataset, value);
  } else if (name === 'value') {
    element.value = value;
  } else {
    element.setAttribute(name, value === true ? '' : value);
  }
}

/** Characters that change the direction of the text around them. */
export const directionControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Appends nodes, text and nested lists of them; leaves out null, undefined and false. */
export function add(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : isolated(String(child), element));
  }
  return element;
}

/** Keeps the direction of a text to itself. Elements do so as well (base.css), and an option has only text. */
function isolated(text, element) {
  if (['BDI', 'OPTION'].includes(element.tagName) || text.search(directionControls) < 0) return text;
  return h('bdi', {}, text);
}

/** Returns the nodes of a sentence in which the values are texts of strangers, each with a direction of its own. */
export function said(strings, ...values) {
  return strings.flatMap((text, at) => (at < values.length ? [text, h('bdi', {}, values[at])] : [text]));
}

/** Replaces the content of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

let numbers = 0;

/** Returns an ID that no other element has, such as for a label. */
export function freshID(prefix) {
  numbers += 1;
  return `${prefix}-${numbers}`;
}

/** Announces a change to screen readers. */
export function announce(text) {
  const announcer = document.getElementById('announcer');
  announcer.textContent = '';
  setTimeout(() => { announcer.textContent = text; }, 50);
}
