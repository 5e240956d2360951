// Keys that work anywhere outside of fields; they can be turned off, since assistive software may send single keys.
import { h } from './dom.js';
import { go } from './router.js';
import { open } from './components/dialog.js';

const key = 'ccsd-shortcuts';
/** The pages by the key after g. */
const pageKeys = { o: 'overview', m: 'messages', s: 'senders', t: 'topics', d: 'devices', a: 'apns', x: 'operations', i: 'inbox' };

let isAwaitingPage = false;

function isOn() {
  try { return localStorage.getItem(key) !== 'off'; } catch { return true; }
}

function turn(on) {
  try { localStorage.setItem(key, on ? 'on' : 'off'); } catch { /* They stay on. */ }
}

/** Listens for keys. */
export function startShortcuts() {
  document.addEventListener('keydown', (event) => {
    const isField = event.target.closest?.('input, textarea, select, dialog, [contenteditable]');
    if (!isOn() || isField || event.ctrlKey || event.metaKey || event.altKey) return;
    const afterG = isAwaitingPage;
    isAwaitingPage = event.key === 'g' && !afterG;
    if (afterG && pageKeys[event.key]) go([pageKeys[event.key]]);
    else if (event.key === '/') document.getElementById('search')?.focus();
    else if (event.key === '?') showHelp();
    else return;
    event.preventDefault();
  });
}

/** Shows all keys. */
export function showHelp() {
  const rows = [['/', 'search'], ['?', 'this list'],
    ...Object.entries(pageKeys).map(([letter, page]) => [`g ${letter}`, `go to ${page}`])];
  open('Keys', h('dl', { class: 'keys' }, rows.map(([keys, meaning]) => h('div', {},
    h('dt', {}, keys.split(' ').map((name) => h('kbd', {}, name))), h('dd', {}, meaning)))),
  h('label', { class: 'check' },
    h('input', { type: 'checkbox', checked: isOn(), on: { change: (event) => turn(event.target.checked) } }),
    'Keys are on',
  ),
  h('form', { method: 'dialog', class: 'buttons' }, h('button', {}, 'Close')));
}
