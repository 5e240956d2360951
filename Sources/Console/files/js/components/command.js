// The command of ccsctl for what is shown: <ctl-command>, with a button that copies it.
import { commandLine } from '../ctl.js';
import { h, fill, announce } from '../dom.js';

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
    const copy = h('button', {
      type: 'button', class: 'small plain', 'aria-label': `Copy ${this.#line}`, on: { click: () => this.#copy(copy) },
    }, 'Copy');
    fill(this, h('code', {}, this.#line), copy);
  }

  async #copy(button) {
    try {
      await navigator.clipboard.writeText(this.#line);
      button.textContent = 'Copied';
      announce('The command is copied.');
    } catch {
      button.textContent = 'Not permitted';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  }
}

customElements.define('ctl-command', CtlCommand);

/** Creates the line with the command of an operation. */
export function ctl(name, args = {}) {
  return document.createElement('ctl-command').show(name, args);
}
