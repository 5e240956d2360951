// What an operator may paste: a token, a device, a sender, a group, a topic, an installation, an address, or the ID of a message.

/** Returns the kind of a pasted text, without the space around it. A `number` is that of a device or a sender. */
export function targetOf(pasted) {
  const text = (pasted ?? '').trim();
  if (text === '') return { kind: 'nothing', text };
  if (text.startsWith('/topics/')) return { kind: 'topic', text };
  if (/^0:\d+%[0-9a-f]{16}$/.test(text)) return { kind: 'message', text, storedAt: timeIn(text) };
  if (/^[\w-]{11}:[\w-]{140}$/.test(text)) return { kind: 'token', text };
  if (looksLikeToken(text)) return { kind: 'part', text };
  if (/^APA91b[\w-]{44}$/.test(text)) return { kind: 'group', text };
  if (/^[1-9]\d{0,19}$/.test(text)) return { kind: 'number', text };
  if (/^[c-f][\w-]{21}$/.test(text)) return { kind: 'installation', text };
  if (isAddress(text)) return { kind: 'address', text };
  return { kind: 'message', text };
}

/** Characters of a token. */
export const tokenLength = 152;

/** Whether a text is a token without its end or beginning, or one that was shortened in a listing. */
function looksLikeToken(text) {
  return /^[\w-]*:?APA91b[\w-]{45}/.test(text) || /^[\w-]{0,11}:APA91b[\w-]*(…[\w-]*)?$/.test(text)
    || /^[\w-]{11}:(A|AP|APA|APA9|APA91)?(…[\w-]*)?$/.test(text);
}

/** Whether a text is an address, with or without a port. */
function isAddress(text) {
  return /^\d{1,3}(\.\d{1,3}){3}(:\d{1,5})?$/.test(text) || /^\[?[0-9a-f]{0,4}:[0-9a-f:.]*:[0-9a-f.]{0,15}(\]:\d{1,5}|\])?$/i.test(text);
}

/** The ID that a device sees begins with the time of the message, in microseconds since 1970. */
function timeIn(persistentID) {
  const microseconds = Number(persistentID.slice(2, persistentID.indexOf('%')));
  const date = new Date(microseconds / 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
