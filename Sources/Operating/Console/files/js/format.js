// Numbers, times and sizes as text.

/** Milliseconds by which the server is ahead of the machine, on a server for tests. */
let ahead = 0;

/** Sets by how many seconds the server is ahead of the machine. */
export function setAhead(seconds) {
  ahead = seconds * 1000;
}

/** Formats a rate or a mean: one decimal below 100. */
export function rate(value) {
  return value < 100 ? (Math.round(value * 10) / 10).toLocaleString('en') : count(Math.round(value));
}

/** Formats a whole number. */
export function count(value) {
  return Number(value ?? 0).toLocaleString('en');
}

/** Returns a number with its word: `plural(1, 'message')`. */
export function plural(value, word, many = `${word}s`) {
  return `${count(value)} ${Number(value) === 1 ? word : many}`;
}

/** Formats microseconds. */
export function duration(microseconds) {
  if (microseconds === null || microseconds === undefined) return '–';
  if (microseconds < 1e3) return `${Math.round(microseconds)} µs`;
  if (microseconds < 1e6) return `${rate(microseconds / 1e3)} ms`;
  return span(microseconds / 1e6);
}

/** Formats seconds with their two largest units. */
export function span(seconds) {
  if (seconds < 60) return `${rate(seconds)} s`;
  const units = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const from = units.findIndex(([size]) => seconds >= size);
  let rest = Math.floor(seconds);
  return units.slice(from, from + 2).map(([size, name]) => {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    return whole ? `${whole} ${name}` : '';
  }).filter(Boolean).join(' ');
}

/** Formats bytes. */
export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = Number(value ?? 0);
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) { size /= 1024; unit += 1; }
  return `${unit ? rate(size) : size} ${units[unit]}`;
}

/** Formats a time in the zone of the reader. */
export function time(text) {
  if (!text) return '–';
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? String(text) : date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}

/** Formats the time of day with milliseconds. */
export function clock(text) {
  const date = new Date(text);
  const seconds = date.toLocaleTimeString('en-GB', { hour12: false });
  return `${seconds}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** Returns how far a time is away: "5 min ago", "in 3 d". */
export function distance(text, now = Date.now() + ahead) {
  if (!text) return 'never';
  const seconds = (new Date(text).getTime() - now) / 1000;
  const far = span(Math.round(Math.abs(seconds)));
  return seconds < 0 ? `${far} ago` : `in ${far}`;
}

/** Shortens a long ID in the middle. */
export function short(text, limit = 28) {
  const whole = String(text ?? '');
  return whole.length <= limit ? whole : `${whole.slice(0, limit - 9)}…${whole.slice(-8)}`;
}

/** Returns the words of a name such as `app_server`. */
export function words(name) {
  return String(name).replaceAll('_', ' ');
}
