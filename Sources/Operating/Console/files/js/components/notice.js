// Boxes for problems and results, and content that is loaded.
import { h, fill, announce } from '../dom.js';

/** The content that elements show, as JSON. */
const shown = new WeakMap();

/** Creates a box for an error, with what to do. */
export function problemBox(problem) {
  const title = problem.status === 403 ? 'Not permitted' : 'That did not work';
  return h('div', { class: 'notice bad', role: 'alert' },
    h('strong', {}, title), h('p', {}, sentence(problem.message)), problem.hint && h('p', {}, sentence(problem.hint)));
}

/** Creates a box for a result; `kind` is good, warn or info. */
export function notice(kind, title, ...content) {
  return h('div', { class: `notice ${kind}`, role: 'status' }, h('strong', {}, title), content);
}

/** Fills an element with what `make` returns for the loaded content, or with the problem. Returns the content, if any. */
export async function load(element, promise, make) {
  element.setAttribute('aria-busy', 'true');
  if (!element.hasChildNodes()) fill(element, h('p', { class: 'quiet loading' }, 'Loading…'));
  try {
    const content = await promise;
    fill(element, make(content));
    return content;
  } catch (error) {
    if (error.name === 'AbortError') return undefined;
    fill(element, problemBox(error));
    return undefined;
  } finally {
    element.removeAttribute('aria-busy');
  }
}

/** Loads again what is shown; leaves it as it is if nothing has changed, or the reader uses it. */
export async function reload(element, promise, make) {
  try {
    const content = await promise;
    const text = JSON.stringify(content);
    if (shown.get(element) === text || element.contains(document.activeElement)) return;
    shown.set(element, text);
    fill(element, make(content));
  } catch (error) {
    if (error.name === 'AbortError') return;
    shown.delete(element);
    fill(element, problemBox(error));
  }
}

/** Runs an action of a button, which is disabled meanwhile; shows a problem in `place`. */
export async function act(button, place, action) {
  button.disabled = true;
  fill(place);
  try {
    const shown = await action();
    if (shown) {
      fill(place, shown);
      announce(shown.firstChild?.textContent ?? '');
    }
  } catch (error) {
    if (error.name !== 'AbortError') fill(place, problemBox(error));
  } finally {
    button.disabled = false;
  }
}

/** Names that a text may begin with: commands, configuration keys, arguments, hosts. They keep their letters. */
const name = /^(ccsctl|ccsd)\b|^[a-z][a-z0-9]*[_.:\/][a-z0-9\/]/;

/** Makes a sentence of an error text: a capital first, except in a name, and a full stop last. */
export function sentence(text) {
  if (!text) return '';
  const first = name.test(text) ? text : text[0].toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(first) ? first : `${first}.`;
}
