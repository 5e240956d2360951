// The command of ccsctl that does what a page does.
import { operation } from './api.js';
import { directionControls } from './dom.js';

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
  case 'notification': return ['--notification', quoted(JSON.stringify(value))];
  case 'message': return ['--message', 'FILE'];
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
  if (text.search(directionControls) >= 0 || /[\u0000-\u001f\u007f]/.test(text)) return `$'${escaped(text)}'`;
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Escapes characters that would hide what a command does: the copy is read as it runs. */
function escaped(text) {
  const code = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replace(/[\\']/g, '\\$&').replace(directionControls, code).replace(/[\u0000-\u001f\u007f]/g, code);
}
