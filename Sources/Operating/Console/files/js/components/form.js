// Fields of forms, each with its label and its help.
import { h, freshID } from '../dom.js';

/** Creates a field with a text input; `options` are attributes of the input, and `help` a line below it. */
export function textField(label, name, { help, list, ...options } = {}) {
  const id = freshID('field');
  const input = h('input',
    {
      id,
      name,
      type: 'text',
      autocomplete: 'off',
      spellcheck: 'false',
      'aria-describedby': help && `${id}-help`,
      list: list && `${id}-list`,
      ...options,
    },
  );
  return h('div', { class: 'field' }, h('label', { for: id }, label), input,
    list && h('datalist', { id: `${id}-list` }, list.map(({ value, label: text }) => h('option', { value }, text))),
    help && h('p', { class: 'help', id: `${id}-help` }, help));
}

/** Creates a field with several lines. */
export function areaField(label, name, { help, value = '', ...options } = {}) {
  const id = freshID('field');
  const area = h('textarea',
    { id, name, rows: 6, spellcheck: 'false', 'aria-describedby': help && `${id}-help`, value, ...options },
  );
  return h('div', { class: 'field wide' },
    h('label', { for: id }, label),
    area,
    help && h('p', { class: 'help', id: `${id}-help` }, help),
  );
}

/** Creates a field with a choice; `choices` are pairs of value and text. */
export function choiceField(label, name, choices, chosen = '') {
  const id = freshID('field');
  const options = choices.map(([value, text]) => h('option', { value, selected: value === chosen }, text));
  return h('div', { class: 'field' }, h('label', { for: id }, label), h('select', { id, name }, options));
}

/** Creates a field with a box to check. */
export function checkField(label, name, checked = false) {
  return h('label', { class: 'check' }, h('input', { type: 'checkbox', name, checked }), label);
}

/** Creates a button. */
export function button(text, click, { kind = '', ...options } = {}) {
  return h('button', { type: 'button', class: kind, on: { click }, ...options }, text);
}

/** Creates a form; `submit` gets its values by name. */
export function form(submit, ...content) {
  return h('form', { novalidate: true, on: { submit: (event) => {
    event.preventDefault();
    submit(values(event.currentTarget), event.submitter ?? event.currentTarget.querySelector('[type=submit]'));
  } } }, content);
}

/** Returns the values of a form by name: text without surrounding blanks, and true or undefined for boxes. */
export function values(element) {
  const all = {};
  for (const field of element.elements) {
    if (!field.name) continue;
    if (field.type === 'checkbox') all[field.name] = field.checked || undefined;
    else if (field.type === 'file') all[field.name] = field.files[0];
    else all[field.name] = field.value.trim() || undefined;
  }
  return all;
}
