// Dialogs: a question before a change that cannot be undone, and a secret that is shown once.
import { h, freshID } from '../dom.js';
import { ctl } from './command.js';

/** Opens a dialog and returns it; it is removed when it closes, and the focus returns to where it was. */
export function open(title, ...content) {
  const id = freshID('dialog');
  const before = document.activeElement;
  const dialog = h('dialog', { 'aria-labelledby': id }, h('h2', { id }, title), content);
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (before?.isConnected) before.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Asks before a change; returns whether it is confirmed. `command` is its name and arguments. */
export function confirm(title, text, verb, command) {
  return new Promise((resolve) => {
    const dialog = open(title, h('p', {}, text), ctl(...command), h('form', { method: 'dialog', class: 'buttons' },
      h('button', { value: 'no', autofocus: true }, 'Cancel'), h('button', { value: 'yes', class: 'danger' }, verb)));
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'));
  });
}

/** Shows a secret once; it is in the page only while the dialog is open. */
export function showOnce(title, text, secret) {
  const shown = h('code', { class: 'secret', tabindex: '0' }, secret);
  const copy = h('button', { type: 'button', on: { click: async () => {
    try {
      await navigator.clipboard.writeText(secret);
      copy.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(shown);
    }
  } } }, 'Copy');
  return new Promise((resolve) => {
    open(title, h('p', {}, text),
      shown,
      h('form', { method: 'dialog', class: 'buttons' }, copy, h('button', { class: 'primary' }, 'I have stored it')),
    )
      .addEventListener('close', resolve);
  });
}
