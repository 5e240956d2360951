// The command of ccsctl that does what a page does.
import { operation } from './api.js';

/** Returns the command line of an operation with these arguments. */
export function commandLine(name, args = {}) {
  const { positions, flags, supplied, destroys } = operation(name);
  const words = ['ccsctl', ...name.split(' ')];
  for (const field of positions) if (given(args[field])) words.push(quoted(args[field]));
  for (const [field, flag] of Object.entries(flags)) {
    if (!given(args[field])) continue;
    words.push(flag);
    if (args[field] !== true) words.push(quoted(args[field]));
  }
  for (const field of supplied) words.push(...suppliedWords(field, args[field]));
  if (destroys) words.push('--yes');
  return words.join(' ');
}

/** Returns the words for a field that ccsctl reads from files, or writes as pairs. */
function suppliedWords(field, value) {
  if (!given(value)) return [];
  switch (field) {
  case 'data': return Object.entries(value).map(([key, text]) => quoted(`${key}=${text}`));
  case 'file': return ['FILE'];
  case 'public_key': return ['--out', 'key.json'];
  case 'key': return ['--key-file', 'FILE'];
  case 'password': return ['--password-file', 'FILE'];
  case 'secret': return ['--secret-file', 'FILE'];
  case 'private_key': return ['--private-key', 'FILE'];
  default: return [];
  }
}

function given(value) {
  return value !== undefined && value !== null && value !== '' && value !== false;
}

/** Quotes a word for a shell unless it needs none. */
function quoted(value) {
  const text = String(value);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
