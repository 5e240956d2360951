// The live figures of the server: one stream for all pages, with the last minutes of each series.
import { followFigures } from './api.js';

/** Seconds that are kept. */
const keptSeconds = 300;
/** Milliseconds before the stream is opened again. */
const retryMilliseconds = 3000;

/** The quantile of the durations between two answers, in microseconds; null without any. */
export function quantile(latency, before, share) {
  const buckets = Object.entries(latency?.buckets ?? {})
    .map(([bound, count]) => ({
      bound: bound === 'more' ? Infinity : Number(bound),
      count: Math.max(0, count - (before?.buckets?.[bound] ?? 0)),
    }))
    .sort((a, b) => a.bound - b.bound);
  const total = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  if (total === 0) return null;
  let seen = 0;
  let lower = 0;
  for (const { bound, count } of buckets) {
    if (count > 0 && seen + count >= share * total) {
      return bound === Infinity ? lower : lower + (bound - lower) * (share * total - seen) / count;
    }
    seen += count;
    if (bound !== Infinity) lower = bound;
  }
  return lower;
}

/** The values of one second: rates since the previous answer, and states. */
function sample(now, before) {
  const seconds = Math.max(0.001, (now.uptime_milliseconds - before.uptime_milliseconds) / 1000);
  const perSecond = (part, word) => Math.max(0, ((now[part][word] ?? 0) - (before[part][word] ?? 0)) / seconds);
  const sum = (counts) => Object.values(counts).reduce((total, value) => total + value, 0);
  const values = {
    down_accepted: perSecond('downstream', 'accepted'), down_delivered: perSecond('downstream', 'delivered'),
    down_refused: perSecond('downstream', 'refused'),
    up_accepted: perSecond('upstream', 'accepted'), up_delivered: perSecond('upstream', 'delivered'),
    waiting_down: now.waiting.downstream ?? 0, waiting_up: now.waiting.upstream ?? 0,
    connections: sum(now.connections), sessions: sum(now.sessions),
    cpu: perSecond('process', 'cpu_microseconds') / 1e4, memory: now.process.resident_bytes ?? 0,
  };
  for (const latency of now.latencies) {
    const earlier = before.latencies.find((other) => other.name === latency.name);
    for (const share of [50, 99]) values[`${latency.name}_${share}`] = quantile(latency, earlier, share / 100);
  }
  return { time: Date.now(), values };
}

/** The figures: `latest` is the last answer, `samples` the series. It sends `change` after each answer. */
class Figures extends EventTarget {
  samples = [];
  latest = null;
  problem = null;
  #stream = null;
  #isWanted = false;

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#close() : this.#open()));
  }

  /** Reads the figures while the page is visible; a hidden one costs the server nothing. */
  start() {
    this.#isWanted = true;
    this.#open();
  }

  /** Ends the stream and forgets the series. */
  end() {
    this.#isWanted = false;
    this.samples = [];
    this.#close();
  }

  #close() {
    this.#stream?.abort();
    this.#stream = null;
    this.latest = null;
  }

  async #open() {
    if (this.#stream || document.hidden || !this.#isWanted) return;
    const stream = new AbortController();
    this.#stream = stream;
    try {
      await followFigures((answer) => this.#take(answer), stream.signal);
    } catch (error) {
      if (this.#stream !== stream) return;
      this.#stream = null;
      this.latest = null;
      if (error.status === 401) return;
      this.problem = error;
      this.dispatchEvent(new Event('change'));
      setTimeout(() => this.#open(), retryMilliseconds);
    }
  }

  #take(answer) {
    const before = this.latest;
    this.latest = answer;
    this.problem = null;
    if (before && answer.uptime_milliseconds > before.uptime_milliseconds) {
      this.samples.push(sample(answer, before));
      if (this.samples.length > keptSeconds) this.samples.shift();
    } else if (before) {
      this.samples = [];
    }
    this.dispatchEvent(new Event('change'));
  }
}

export const figures = new Figures();
