// The pairs of a message: rows of a key and a value.
import { h } from '../dom.js';
import { button } from './form.js';

/** Creates the field for the pairs; `first` are the first rows, as pairs of key and value. */
export function pairsField(...first) {
  const pairs = h('div', { class: 'pairs' }, first.map(([key, value]) => pairRow(key, value)));
  return h('fieldset', {}, h('legend', {}, 'Data'), pairs,
    button('Add a pair', () => pairs.append(pairRow('', '')), { kind: 'small' }));
}

function pairRow(key, value) {
  const row = h('div', { class: 'pair-row' },
    h('input', { class: 'key', value: key, 'aria-label': 'Key', spellcheck: 'false' }),
    h('input', { class: 'value', value, 'aria-label': 'Value', spellcheck: 'false' }),
    button('×', () => row.remove(), { kind: 'small plain', 'aria-label': 'Remove this pair' }));
  return row;
}

/** Returns the pairs in an element as an object; undefined without any. */
export function pairsOf(element) {
  const pairs = [...element.querySelectorAll('.pair-row')]
    .map((row) => [row.querySelector('.key').value, row.querySelector('.value').value]).filter(([key]) => key);
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}
