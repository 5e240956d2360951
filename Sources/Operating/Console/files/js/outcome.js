// How far a message has come, by its steps in the history.

/** What each end of a message means for its outcome. */
const ends = {
  delivered: 'good', forwarded: 'good', replaced: 'warn', expired: 'bad', refused: 'bad', discarded: 'bad', removed: 'bad',
  cancelled: 'warn',
};

/** Whether a message ends with a step. */
export function isEnd(step) {
  return Object.hasOwn(ends, step);
}

/** Returns how far a message has come: `word`, the `kind` of its badge, `detail`, and whether it `isOver`. */
export function outcome({ kind, steps }) {
  // A message that Apple refuses is discarded, or removed with its registration, after that.
  const end = steps.find(({ step }) => step === 'refused') ?? steps.findLast(({ step }) => isEnd(step));
  if (end) return { word: end.step, kind: ends[end.step], detail: end.detail, isOver: true };
  const last = steps.at(-1);
  // A message to several devices ends with each copy by itself.
  return { word: last?.step ?? 'unknown', kind: 'plain', detail: last?.detail, isOver: kind === 'topic' || kind === 'group' };
}
