// The command of ccsctl for what is shown: <ctl-command>, with a button that copies it.
import { commandLine } from '../ctl.js';
import { h, fill, announce } from '../dom.js';

/** Creates a button that copies a text; `label` names it for screen readers. */
export function copyButton(text, label) {
  const copy = h('button', { type: 'button', class: 'small plain', 'aria-label': label, on: { click: async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = 'Copied';
      announce('It is copied.');
    } catch {
      copy.textContent = 'Not permitted';
    }
    setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
  } } }, 'Copy');
  return copy;
}

class CtlCommand extends HTMLElement {
  #line = '';

  /** Shows the command of an operation. */
  show(name, args) {
    this.#line = commandLine(name, args);
    if (this.isConnected) this.#render();
    return this;
  }

  connectedCallback() {
    this.#render();
  }

  #render() {
    fill(this, h('code', {}, this.#line), copyButton(this.#line, `Copy ${this.#line}`));
  }
}

customElements.define('ctl-command', CtlCommand);

/** Creates the line with the command of an operation. */
export function ctl(name, args = {}) {
  return document.createElement('ctl-command').show(name, args);
}
