// Tables and lists of facts.
import { h, freshID } from '../dom.js';
import { link } from '../router.js';

/** Creates a table. A column is `{ title, cell(row), number }`; `caption` names the table for screen readers. */
export function table(caption, columns, rows, { empty = 'None.' } = {}) {
  if (rows.length === 0) return h('p', { class: 'quiet empty' }, empty);
  const id = freshID('table');
  const head = h('tr', {}, columns.map(({ title, number }) => h('th', { scope: 'col', class: number && 'number' }, title)));
  const body = rows.map((row) => h('tr', {}, columns.map((column, at) => {
    const properties = { class: column.number && 'number', data: { title: column.title } };
    return at === 0 ? h('th', { scope: 'row', ...properties }, column.cell(row)) : h('td', properties, column.cell(row));
  })));
  return h('div', { class: 'table-scroll', tabindex: '0', role: 'group', 'aria-labelledby': id },
    h('table', {}, h('caption', { id, class: 'hidden-text' }, caption), h('thead', {}, head), h('tbody', {}, body)));
}

/** Creates a list of facts: pairs of a name and its content. */
export function facts(...pairs) {
  return h('dl', { class: 'facts' },
    pairs.filter(Boolean).map(([name, ...content]) => h('div', {}, h('dt', {}, name), h('dd', {}, content))),
  );
}

/** Creates the links between the pages of a list. The browser's own history has the way back. */
export function pages(segments, query, { after, next, cursor = 'after' }) {
  if (!after && !next) return null;
  return h('nav', { class: 'pages', 'aria-label': 'Pages of the list' },
    after && h('a', { href: link(segments, { ...query, [cursor]: undefined }) }, 'First page'),
    next ? h('a',
      { href: link(segments, { ...query, [cursor]: next }), rel: 'next' },
      'Next page',
    ) : h('span', { class: 'quiet' }, 'This is the last page.'));
}

/** Creates a badge; `kind` is good, warn, bad or plain. */
export function badge(kind, text) {
  return h('span', { class: `badge ${kind}` }, text);
}

/** Creates a section with a heading. */
export function section(title, ...content) {
  const id = freshID('section');
  return h('section', { 'aria-labelledby': id }, h('h2', { id }, title), content);
}

/** Creates an ID in fixed-width type. */
export function mono(text) {
  return h('code', { class: 'id' }, text);
}
