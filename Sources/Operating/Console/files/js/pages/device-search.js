// One device, and those whose number begins with some digits. The list is in numeric order, so they are in one range for each length of the number.
import { call } from '../api.js';

/** The largest number of a device. */
const largest = 18446744073709551615n;
/** Requests for one page: conditions that few devices meet need several. */
const requests = 40;

/** Returns the row of a device in `devices list`, which a viewer may see, or `undefined` if there is none. */
export async function deviceOf(number, signal) {
  const wanted = BigInt(number);
  if (wanted > largest) return undefined;
  const { devices: [row] } = await call('devices list', { after: String(wanted - 1n), limit: 1 }, signal);
  return row?.device === String(number) ? row : undefined;
}

/** Returns the ranges of numbers that begin with a prefix, in ascending order, each as `{ from, to }`. */
export function ranges(prefix) {
  const all = [];
  for (let from = BigInt(prefix), size = 1n; from <= largest; from *= 10n, size *= 10n) {
    const to = from + size - 1n;
    all.push({ from, to: to > largest ? largest : to });
  }
  return all;
}

/** Returns a page of the devices whose number begins with a prefix, in the form of `devices list`. */
export async function withPrefix(prefix, args, after, signal) {
  const start = BigInt(after ?? 0);
  const page = { devices: [], examined: 0 };
  let left = requests;
  for (const { from, to } of ranges(prefix)) {
    let position = start >= from ? start : from - 1n;
    while (position < to) {
      const answer = await call('devices list', { ...args, after: String(position) }, signal);
      const room = args.limit - page.devices.length;
      page.examined += answer.examined;
      page.devices.push(...answer.devices.filter(({ device }) => BigInt(device) <= to).slice(0, room));
      if (page.devices.length === args.limit) return { ...page, next_after: page.devices.at(-1).device };
      if (!answer.next_after) break;
      position = BigInt(answer.next_after);
      left -= 1;
      if (left === 0) return { ...page, next_after: String(position) };
    }
  }
  return page;
}
