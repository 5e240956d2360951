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

/** Returns how many app instances a message to a topic has reached where its time is over; `undefined` if that is nowhere. */
export function reachOf(steps) {
  const parts = steps.map(({ detail }) => /^reached (\d+), /.exec(detail ?? '')).filter(Boolean);
  return parts.length > 0 ? parts.reduce((sum, [, reached]) => sum + Number(reached), 0) : undefined;
}

/** Returns how far a message has come: `word`, the `kind` of its badge, `detail`, and whether it `isOver`. */
export function outcome({ kind, steps }) {
  // A message that Apple refuses is discarded, or removed with its registration, after that.
  // A message to several devices ends with each copy by itself.
  const isForSeveral = kind === 'topic' || kind === 'group';
  const end = steps.find(({ step }) => step === 'refused') ?? (isForSeveral ? undefined : steps.findLast(({ step }) => isEnd(step)));
  if (end) return { word: end.step, kind: ends[end.step], detail: end.detail, isOver: true };
  const last = isForSeveral ? steps[0] : steps.at(-1);
  return { word: last?.step ?? 'unknown', kind: 'plain', detail: last?.detail, isOver: isForSeveral };
}
