// The live trace of a device: <device-trace>, with the meaning of each step.
import { follow } from '../api.js';
import { h, fill, announce, said } from '../dom.js';
import { clock, time } from '../format.js';
import { detailOf, meaning, term } from '../glossary.js';
import { problemBox } from './notice.js';

/** Steps that are kept in the list. */
const keptSteps = 500;
const recentSteps = 50;
const seconds = 600;
const arrows = { downstream: ['↓', 'to the device'], upstream: ['↑', 'from the device'], connection: ['⇄', 'connection'] };
const bad = new Set(['refused', 'expired', 'discarded', 'removed', 'cancelled', 'login_refused', 'disconnected']);
const good = new Set(['delivered', 'forwarded', 'connected']);

/** Traces a device while it is shown, and the page visible: a browser has few connections to a host for all its pages. It sends `step` for each step, with the step as `detail`. */
class DeviceTrace extends HTMLElement {
  #device = '';
  #stream = null;
  #isPaused = false;
  #watch = () => (document.hidden ? this.#pause() : this.#resume());
  /** The latest steps, the oldest first. */
  recent = [];

  /** Sets the device: its number, or a token that limits the trace to one registration. */
  of(device) {
    this.#device = device;
    return this;
  }

  connectedCallback() {
    this.state = h('span', { class: 'quiet', role: 'status' });
    this.toggle = h('button',
      { type: 'button', class: 'small', on: { click: () => (this.#stream ? this.stop() : this.start()) } },
    );
    this.list = h('ol', { class: 'trace', 'aria-label': 'Steps, the latest first', tabindex: '0' });
    fill(this, h('div', { class: 'trace-head' }, this.toggle, this.state), this.list);
    document.addEventListener('visibilitychange', this.#watch);
    this.#isPaused = document.hidden;
    if (!this.#isPaused) this.start();
  }

  disconnectedCallback() {
    document.removeEventListener('visibilitychange', this.#watch);
    this.stop();
  }

  #pause() {
    if (!this.#stream) return;
    this.#isPaused = true;
    this.stop();
    this.list.prepend(noteItem('Paused while the page was hidden: steps of that time are missing.'));
  }

  #resume() {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.start();
  }

  /** Starts the trace; it ends by itself after ten minutes. */
  async start() {
    const stream = new AbortController();
    this.#stream = stream;
    this.toggle.textContent = 'Stop the trace';
    this.state.textContent = 'Starting…';
    try {
      const end = await follow('devices trace', { device: this.#device, seconds },
        (name, content) => this.#take(name, content),
        stream.signal,
      );
      this.#ended(stream, end.left_out > 0 ? `Ended; ${end.left_out} steps were left out.` : 'Ended after ten minutes.');
    } catch (error) {
      this.#ended(stream, error.name === 'AbortError' ? (this.#isPaused ? 'Paused.' : 'Stopped.') : 'Ended.');
      if (error.name !== 'AbortError') this.list.prepend(h('li', {}, problemBox(error)));
    }
  }

  /** Stops the trace. */
  stop() {
    this.#stream?.abort();
  }

  #ended(stream, text) {
    if (this.#stream !== stream) return;
    this.#stream = null;
    this.toggle.textContent = 'Trace again';
    this.state.textContent = text;
  }

  #take(name, content) {
    if (name === 'tracing') {
      this.state.textContent = `Tracing device ${content.device}. Messages sent from now on appear below.`;
      this.dispatchEvent(new CustomEvent('started'));
    } else if (name === 'trace') {
      this.list.prepend(stepItem(content));
      this.recent.push(content);
      if (this.recent.length > recentSteps) this.recent.shift();
      if (this.list.childElementCount > keptSteps) this.list.lastElementChild.remove();
      announce(`${content.direction}: ${content.step}`);
      this.dispatchEvent(new CustomEvent('step', { detail: content }));
    }
  }
}

function noteItem(text) {
  return h('li', {}, h('time', {}, clock(Date.now())), h('span', { class: 'quiet explanation' }, text));
}

/** Creates the row of a step. */
export function stepItem(step) {
  const [arrow, direction] = arrows[step.direction] ?? ['·', step.direction];
  const kind = bad.has(step.step) ? 'bad' : good.has(step.step) ? 'good' : '';
  const { word, field, apple } = detailOf(step.detail);
  const detail = word && [term(word, ['refusal', 'close reason']), (field || apple) && ` ${field || apple}`];
  return h('li', { class: kind },
    h('time', { datetime: step.time, title: time(step.time) }, clock(step.time)),
    h('span', { class: 'arrow', title: direction },
      h('span', { 'aria-hidden': 'true' }, arrow),
      h('span', { class: 'hidden-text' }, direction),
    ),
    h('strong', {}, step.step), detail && h('span', { class: 'detail' }, detail),
    h('span', { class: 'quiet explanation' }, meaning(step.step, 'step', 'milestone')),
    h('span', { class: 'quiet ids' }, [
      step.message_id && said`message ${step.message_id}`, step.sender_id && said`sender ${step.sender_id}`,
      step.registration !== undefined && said`registration ${step.registration}`, step.persistent_id && said`${step.persistent_id}`, step.session && said`session ${step.session}`,
    ].filter(Boolean).map((part, at) => (at > 0 ? [' · ', part] : part))));
}

customElements.define('device-trace', DeviceTrace);

/** Creates the trace of a device. */
export function trace(device) {
  return document.createElement('device-trace').of(device);
}
