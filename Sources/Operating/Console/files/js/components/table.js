// Tables and lists of facts.
import { h, fill, freshID } from '../dom.js';
import { link } from '../router.js';

/** The orders that the reader has chosen, by the caption of the table: a list that is loaded again keeps its order. */
const orders = new Map();

/**
 * Creates a table. A column is `{ title, cell(row), number, by(row) }`: with `by`, its head sorts the rows by that value. `caption` names the
 * table for screen readers.
 */
export function table(caption, columns, rows, { empty = 'None.' } = {}) {
  if (rows.length === 0) return h('p', { class: 'quiet empty' }, empty);
  const id = freshID('table');
  const body = h('tbody', {});
  const heads = columns.map((column) => h('th', { scope: 'col', class: column.number && 'number' },
    column.by ? h('button', { type: 'button', class: 'sort', on: { click: () => choose(column) } }, column.title) : column.title));
  const show = () => {
    const order = orders.get(caption);
    const chosen = columns.findIndex(({ title, by }) => by && title === order?.title);
    heads.forEach((head, at) => { head.ariaSort = at !== chosen ? null : order.isDown ? 'descending' : 'ascending'; });
    fill(body, rowsOf(columns, chosen < 0 ? rows : sorted(rows, columns[chosen].by, order.isDown)));
  };
  const choose = ({ title, number }) => {
    const order = orders.get(caption);
    // Of numbers, the largest are asked for first.
    orders.set(caption, { title, isDown: order?.title === title ? !order.isDown : Boolean(number) });
    show();
  };
  show();
  return h('div', { class: 'table-scroll', tabindex: '0', role: 'group', 'aria-labelledby': id },
    h('table', {}, h('caption', { id, class: 'hidden-text' }, caption), h('thead', {}, h('tr', {}, heads)), body));
}

function rowsOf(columns, rows) {
  return rows.map((row) => h('tr', {}, columns.map((column, at) => {
    const properties = { class: column.number && 'number', data: { title: column.title } };
    return at === 0 ? h('th', { scope: 'row', ...properties }, column.cell(row)) : h('td', properties, column.cell(row));
  })));
}

/** Returns rows in the order of a value, which is a number or a text; rows without it come last. */
function sorted(rows, by, isDown) {
  const sign = isDown ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [by(one) ?? null, by(other) ?? null];
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true }));
  });
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
