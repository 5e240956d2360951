// A line chart, of the last minutes or of hours and days: <live-chart>, a small drawing without a library.
import { figures } from '../figures.js';
import { h, svg, fill } from '../dom.js';
import { distance } from '../format.js';

const height = 120;
/** The width of the drawing before it is laid out. */
const firstWidth = 480;
const edge = { left: 4, right: 4, top: 8, bottom: 18 };

/** Shows series of the figures, or of another source of samples; `configure` gives the title, the series and how values are written. */
class LiveChart extends HTMLElement {
  #title = '';
  #series = [];
  #format = String;
  #pointed = null;
  #width = firstWidth;
  #source = figures;
  #when = distance;
  #redraw = () => this.#draw();

  /**
   * `series` is a list of `{ key, label }`; `format` writes a value, and `when` the time of a sample. A `source` may have a `summary`, whose
   * values are shown instead of the latest ones, and a `note` about it.
   */
  configure({ title, series, format, source = figures, when = distance }) {
    this.#title = title;
    this.#series = series;
    this.#format = format;
    this.#source = source;
    this.#when = when;
    return this;
  }

  connectedCallback() {
    this.plot = svg('svg', { role: 'img', height });
    this.legend = h('ul', { class: 'legend' });
    this.time = h('span', { class: 'quiet' });
    this.plot.addEventListener('pointermove', (event) => this.#point(event));
    this.plot.addEventListener('pointerleave', () => { this.#pointed = null; this.#draw(); });
    fill(this, h('div', { class: 'chart-head' }, h('h3', {}, this.#title), this.time), this.plot, this.legend);
    this.#source.addEventListener('change', this.#redraw);
    this.#draw();
  }

  disconnectedCallback() {
    this.#source.removeEventListener('change', this.#redraw);
  }

  #point(event) {
    const box = this.plot.getBoundingClientRect();
    this.#pointed = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    this.#draw();
  }

  #draw() {
    const samples = this.#source.samples;
    this.#width = this.plot.clientWidth || firstWidth;
    this.plot.setAttribute('viewBox', `0 0 ${this.#width} ${height}`);
    const all = samples.flatMap((sample) => this.#series.map(({ key }) => sample.values[key])).filter((value) => value !== null);
    const top = roundAbove(Math.max(0, ...all));
    const shown = this.#pointed === null ? this.#source.summary ?? samples.at(-1) : samples[Math.round(this.#pointed * (samples.length - 1))];
    fill(this.plot, this.#frame(top, all.length > 0),
      this.#series.map((series, at) => this.#line(samples, series.key, at, top)),
      this.#pointed !== null && samples.length > 1 && this.#cursor());
    const values = this.#series.map(({ key, label }) => ({ label, text: this.#text(shown?.values[key]) }));
    fill(this.legend, values.map(({ label, text }, at) => h('li', {},
      h('span', { class: `swatch series-${at}`, 'aria-hidden': 'true' }), h('span', {}, label), h('strong', {}, text))));
    this.time.textContent = this.#pointed !== null && shown ? this.#when(shown.time) : this.#source.note ?? '';
    this.plot.setAttribute('aria-label', `${this.#title}: ${values.map(({ label, text }) => `${label} ${text}`).join(', ')}`);
  }

  #text(value) {
    return value === null || value === undefined ? '–' : this.#format(value);
  }

  #frame(top, hasValues) {
    return [0, 0.5, 1].map((share) => {
      const y = height - edge.bottom - share * (height - edge.top - edge.bottom);
      return [
        svg('line', { x1: edge.left, x2: this.#width - edge.right, y1: y, y2: y, class: 'grid-line' }),
        share > 0 && hasValues && svg('text', { x: edge.left + 2, y: y + 11, class: 'scale' }, this.#format(top * share)),
      ];
    });
  }

  /** A line is broken where there is no value. */
  #line(samples, key, at, top) {
    const step = (this.#width - edge.left - edge.right) / Math.max(1, samples.length - 1);
    let pen = 'M';
    const path = samples.map((sample, index) => {
      const value = sample.values[key];
      if (value === null || value === undefined) { pen = 'M'; return ''; }
      const x = edge.left + index * step;
      const y = height - edge.bottom - (value / top) * (height - edge.top - edge.bottom);
      const part = `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = 'L';
      return part;
    }).join('');
    return svg('path', { d: path || 'M0 0', class: `line series-${at}` });
  }

  #cursor() {
    const x = edge.left + this.#pointed * (this.#width - edge.left - edge.right);
    return svg('line', { x1: x, x2: x, y1: edge.top, y2: height - edge.bottom, class: 'cursor' });
  }
}

/** Returns a round number above a value, which leaves room for the scale. */
function roundAbove(value) {
  const wanted = Math.max(1, value * 1.15);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 3, 5, 10].map((factor) => factor * power).find((bound) => bound >= wanted);
}

customElements.define('live-chart', LiveChart);

/** Creates a chart. */
export function chart(options) {
  return document.createElement('live-chart').configure(options);
}
