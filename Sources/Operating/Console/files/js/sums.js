// Sums of messages: by hour and day for charts, and by topic.

/** The lines of the charts, and the outcomes that each one adds. */
export const lines = [
  ['accepted', 'accepted', ['accepted']], ['delivered', 'delivered or forwarded', ['delivered', 'forwarded']],
  ['lost', 'refused or lost', ['refused', 'expired', 'discarded', 'removed']],
];

/** Returns the sums of each line for a number of steps, the current one last; a step without messages has none. */
export function samplesOf(rows, name, step, steps, now = Date.now()) {
  const sums = new Map(rows.map((row) => [Date.parse(row[name]), row.messages]));
  const last = Math.max(Math.floor(now / step) * step, ...sums.keys());
  return Array.from({ length: steps }, (_, at) => {
    const start = last - (steps - 1 - at) * step;
    const messages = sums.get(start) ?? {};
    const values = lines.map(([key, , words]) => [key, words.reduce((sum, word) => sum + (messages[word] ?? 0), 0)]);
    return { time: start, values: Object.fromEntries(values) };
  });
}

/** What the sums of a topic are found by. */
export const topicKey = (sender, topic) => `${sender} ${topic}`;

/** Returns the messages that devices may still be sent, and the devices that they have reached, by sender and topic. */
export function sumsOf(messages) {
  const sums = new Map();
  for (const { sender_id: sender, topics: names, reached } of messages) {
    for (const name of new Set(names)) {
      const known = sums.get(topicKey(sender, name)) ?? { messages: 0, reached: 0 };
      sums.set(topicKey(sender, name), { messages: known.messages + 1, reached: known.reached + reached });
    }
  }
  return sums;
}
