// The body of an asynchronous function that calls those of the console's scripts, and returns what differs from what is expected.
// `base` is the address of the scripts.
const odd = [];
const load = (path) => import(`${base}/${path}`);
const json = (value) => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));

/** Expects a value, or what a promise returns. */
const same = (name, found, expected) => {
  if (json(found) !== json(expected)) odd.push(`${name}: ${json(found)}, expected ${json(expected)}`);
};
/** Expects one result for each argument. */
const each = (name, call, pairs) => {
  for (const [given, expected] of pairs) same(`${name}(${json(given)})`, call(...[given].flat()), expected);
};
/** Returns what a call throws. */
const failure = async (call) => {
  try { return { returned: await call() }; } catch (error) { return error; }
};

/** Runs a body while the server answers with `answer(path, options)`. Returns the requests. */
const served = async (answer, body) => {
  const real = globalThis.fetch;
  const requests = [];
  globalThis.fetch = async (path, options) => {
    requests.push({ path, ...options });
    return answer(path, options, requests.length);
  };
  try { await body(); } finally { globalThis.fetch = real; }
  return requests;
};
const plain = (content, status = 200) => new Response(typeof content === 'string' ? content : JSON.stringify(content), { status });
/** A stream of events; it stays open unless it ends with `null`. */
const stream = (...blocks) => new Response(new ReadableStream({
  start(to) {
    for (const block of blocks) {
      if (block === null) to.close();
      else to.enqueue(new TextEncoder().encode(block));
    }
  },
}));

// Numbers, times and sizes.
const format = await load('js/format.js');
each('rate', format.rate, [[0, '0'], [9.96, '10'], [99.94, '99.9'], [99.96, '100'], [100, '100'], [100.4, '100'], [1234.5, '1,235']]);
each('count', format.count, [[null, '0'], ['7', '7'], [1234567, '1,234,567']]);
each('plural', format.plural, [
  [[1, 'message'], '1 message'], [['1', 'message'], '1 message'], [[0, 'message'], '0 messages'], [[2, 'entry', 'entries'], '2 entries'],
]);
each('duration', format.duration, [[null, '–'], [undefined, '–'], [0, '0 µs'], [1000, '1 ms'], [1e6, '1 s']]);
each('span', format.span, [
  [59.9, '59.9 s'], [60, '1 min'], [61, '1 min 1 s'], [3599, '59 min 59 s'], [3600, '1 h'], [3661, '1 h 1 min'], [3605, '1 h'],
  [86399, '23 h 59 min'], [86400, '1 d'], [90061, '1 d 1 h'],
]);
each('bytes', format.bytes, [
  [null, '0 B'], [1023, '1023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'], [2 ** 20, '1 MiB'], [2 ** 40, '1 TiB'], [2 ** 50, '1,024 TiB'],
]);
each('time', format.time, [[null, '–'], ['', '–'], ['soon', 'soon']]);
same('a time', /^\d+ \w+ 2026, \d\d:\d\d:07$/.test(format.time('2026-03-04T05:06:07.008Z')), true);
same('a clock', /^\d\d:\d\d:07\.008$/.test(format.clock('2026-03-04T05:06:07.008Z')), true);
const noon = Date.parse('2026-03-04T12:00:00Z');
each('distance', format.distance, [
  [[null, noon], 'never'], [['2026-03-04T11:55:00Z', noon], '5 min ago'], [['2026-03-07T12:00:00Z', noon], 'in 3 d'],
  [['2026-03-04T12:00:00Z', noon], 'in 0 s'], [['2026-03-04T11:59:59.4Z', noon], '1 s ago'],
]);
// The half minute is the room for a slow machine.
const later = new Date(Date.now() + 36.5 * 3600e3 + 30e3).toISOString();
same('a distance from now', format.distance(later), 'in 1 d 12 h');
format.setAhead(24 * 3600);
same('a distance from a clock that is ahead', format.distance(later), 'in 12 h 30 min');
format.setAhead(0);
each('short', format.short, [[null, ''], ['a'.repeat(28), 'a'.repeat(28)], [`${'a'.repeat(21)}bcdefgh9`, `${'a'.repeat(19)}…bcdefgh9`]]);
same('a shorter limit', format.short('0123456789abcdef', 12), '012…89abcdef');
same('words', format.words('app_server_pre'), 'app server pre');

// What an operator pastes.
const { targetOf } = await load('js/target.js');
const id = 'dEvIcE_iD-1';
for (const [text, kind] of [
  [undefined, 'nothing'], ['  ', 'nothing'], ['/topics/news', 'topic'], ['topics/news', 'message'], ['18446744073709551615', 'number'],
  ['0', 'message'], ['184467440737095516150', 'message'], [`${id}:APA91b${'x'.repeat(134)}`, 'token'], [`${id}:APA91b${'x'.repeat(133)}`, 'part'],
  [`${id}:APA91b${'x'.repeat(135)}`, 'part'], [`${id}:APA91bxyz…wxyz`, 'part'], [`${id}:APA9`, 'part'], [`${id}:`, 'part'], [`${id}`, 'message'],
  [`APA91b${'x'.repeat(44)}`, 'group'], [`APA91b${'x'.repeat(43)}`, 'message'], [`APA91b${'x'.repeat(45)}`, 'part'], ['m-1', 'message'],
  ['fAAAAAAAAAAAAAAAAAAAAA', 'installation'], ['gAAAAAAAAAAAAAAAAAAAAA', 'message'], ['10.0.0.7', 'address'], ['10.0.0.7:443', 'address'],
  ['::1', 'address'], ['[::1]:5235', 'address'], ['2001:db8::7', 'address'], ['10.0.0', 'message'], ['a:b', 'message'], ['12:30', 'message'],
]) same(`the kind of ${text}`, targetOf(text).kind, kind);
same('space around', targetOf(' 7\n'), { kind: 'number', text: '7' });
same('the time of an ID', targetOf('0:1772600767008000%0123456789abcdef').storedAt, '2026-03-04T05:06:07.008Z');
same('a time beyond all calendars', targetOf('0:99999999999999999999%0123456789abcdef').storedAt, null);

// Addresses of pages.
const { address, link } = await load('js/router.js');
same('a link', link(['senders', '1'], { after: 5, no: null, none: undefined, empty: '', off: false, zero: 0 }), '#/senders/1?after=5&zero=0');
same('a link with a slash', link(['messages', 'a/b c']), '#/messages/a%2Fb%20c');
const before = location.hash;
for (const [hash, segments, after] of [
  ['#/messages/a%2Fb%20c?after=5&x=%26', ['messages', 'a/b c'], '5'], ['#senders//1/', ['senders', '1'], null], ['#/%zz', ['%zz'], null], ['', [], null],
]) {
  history.replaceState(null, '', hash || location.pathname);
  same(`the address ${hash}`, [address().segments, address().query.get('after')], [segments, after]);
}
history.replaceState(null, '', before || location.pathname);

// The command that does the same.
const { commandLine } = await load('js/ctl.js');
for (const [name, args, words] of [
  ['status', undefined, 'status'],
  ['send', { sender_id: '1', to: '/topics/a b', data: { k: "it's", n: '1' }, priority: 'high', delivery_receipt_requested: true, time_to_live: 0, dry_run: false },
    "send 1 '/topics/a b' --time-to-live 0 --priority high --delivery-receipt-requested 'k=it'\\''s' n=1"],
  ['send', { sender_id: '1', to: 'x', notification: { title: 'T' } }, `send 1 x --notification '{"title":"T"}'`],
  ['send', { sender_id: '1', message: {} }, 'send 1 --message FILE'],
  ['devices forget', { device: '7' }, 'devices forget 7 --yes'],
  ['devices list', { sender_id: '', app: null, limit: 50 }, 'devices list --limit 50'],
  ['senders add', { label: 'a\u202eb\\\'', key: 'secret' }, "senders add --label $'a\\u202eb\\\\\\'' --key-file FILE"],
  ['senders add', { label: '\u202eb' }, "senders add --label $'\\u202eb'"],
  ['senders add', { label: 'a\tb' }, "senders add --label $'a\\u0009b'"],
  ['senders webhook set', { sender_id: '1', url: 'https://a/?b', secret: 's' }, "senders webhook set 1 'https://a/?b' --secret-file FILE"],
  ['service-accounts add', { sender_id: '1', public_key: 'p' }, 'service-accounts add 1 --out key.json'],
  ['apns add', { bundle_id: 'org.a', file: 'f', password: 'p', private_key: 'k' },
    'apns add --bundle-id org.a FILE --private-key FILE --password-file FILE'],
]) same(name, commandLine(name, args), `ccsctl ${words}`);

// Requests and answers.
const { call, follow, session, openSession, closeSession, operation } = await load('js/api.js');
same('an unknown operation', (await failure(() => operation('nothing'))).message, 'unknown operation nothing');
const requests = await served(() => plain({ done: 1 }), async () => {
  same('an answer', await call('devices list', { after: '5 6', limit: '', app: null, sender_id: undefined }), { done: 1 });
  await call('devices list');
  await call('senders suspend', { sender_id: '1/2', more: 3 });
  await call('devices forget', { device: '7' });
  await session();
  await openSession('a token');
  await closeSession();
});
const shortened = requests.map(({ method, path, body, headers }) => [method, path, body ?? '', headers['X-CCSD-Request'] ?? '', headers['Content-Type'] ?? '']);
same('requests', shortened, [
  ['GET', '/operator/v1/devices?after=5+6', '', '', ''], ['GET', '/operator/v1/devices', '', '', ''],
  ['POST', '/operator/v1/senders/1%2F2/suspend', '{"more":3}', 'console', 'application/json'],
  ['DELETE', '/operator/v1/devices/7', '', 'console', ''], ['GET', '/operator/v1/session', '', '', ''],
  ['POST', '/operator/v1/session', '', 'console', ''], ['DELETE', '/operator/v1/session', '', 'console', ''],
]);
same('how requests are sent', requests.every(({ credentials, cache, headers }) =>
  credentials === 'same-origin' && cache === 'no-store' && headers.Accept === 'application/json'), true);
same('the token', requests.map(({ headers }) => headers.Authorization ?? ''), ['', '', '', '', '', 'Bearer a token', '']);
const problem = ({ message, hint, field, status }) => [message, hint, field, status];
let ended = 0;
const listener = (event) => { ended += 1; event.stopImmediatePropagation(); };
document.addEventListener('session-ended', listener, { capture: true });
for (const [answer, expected, ends] of [
  [() => plain({ detail: 'no such device', hint: 'look', field: 'device' }, 404), ['no such device', 'look', 'device', 404], 0],
  [() => plain('<html>', 502), ['the server answered 502', '', null, 502], 0],
  [() => plain({ detail: 'log in' }, 401), ['log in', '', null, 401], 1],
  [() => { throw new TypeError('x'); }, ['the server cannot be reached', 'check that ccsd runs, and the network', null, 0], 0],
]) {
  ended = 0;
  await served(answer, async () => { same(expected[0], problem(await failure(() => call('status'))), expected); });
  same(`ends of the session after: ${expected[0]}`, ended, ends);
}
document.removeEventListener('session-ended', listener, { capture: true });
await served(() => { throw new DOMException('away', 'AbortError'); }, async () => {
  same('an aborted request', (await failure(() => call('status'))).name, 'AbortError');
});
const events = [];
const take = (name, content) => events.push([name, content]);
await served(() => stream('event: step\ndata: {"a":1}\n\ndata: 2\n\n: nothing\n\nevent: result\ndata: "end"\n\nevent: step\ndata: 3\n\n'), async () => {
  same('the result of a stream', await follow('devices trace', { device: '7' }, take), 'end');
});
same('events', events.splice(0), [['step', { a: 1 }], ['message', 2]]);
const asked = await served(() => stream('event: problem\ndata: {"detail":"gone","hint":"again"}\n\n'), async () => {
  same('a problem in a stream', problem(await failure(() => follow('devices trace', { device: '7' }, take))), ['gone', 'again', null, 0]);
});
same('the request for a stream', [asked[0].path, asked[0].headers.Accept], ['/operator/v1/devices/7/trace', 'text/event-stream']);
await served(() => stream('data: 1\n\ndata: 2', null), async () => {
  same('the end of a stream', (await failure(() => follow('devices trace', { device: '7' }, take))).message, 'the connection to the server has ended');
});
same('events before the end', events.splice(0), [['message', 1]]);

// Quantiles, and the series of figures.
const { quantile, figures } = await load('js/figures.js');
const latency = (buckets) => ({ name: 'ack', buckets });
each('quantile', (now, before, share) => quantile(now, before, share), [
  [[null, null, 0.5], null], [[latency({}), null, 0.5], null], [[latency({ 1000: 10 }), null, 0.5], 500],
  [[latency({ 1000: 5, 2000: 5 }), null, 0.5], 1000], [[latency({ 1000: 5, 2000: 5 }), null, 0.99], 1980],
  [[latency({ 1000: 0, 2000: 4 }), null, 0.5], 1500], [[latency({ 1000: 1, more: 1 }), null, 0.99], 1000],
  [[latency({ 2000: 4, 1000: 4 }), latency({ 1000: 4 }), 0.5], 1500], [[latency({ 1000: 1 }), latency({ 1000: 3 }), 0.5], null],
  [[latency({ more: 2, 5e9: 2, 1000: 2 }), null, 0.5], 2500000500],
]);
const figure = (second, accepted, cpu, more = {}) => ({
  uptime_milliseconds: second * 1000, downstream: { accepted, delivered: accepted * 2, refused: 0 }, upstream: { accepted: 4 * accepted },
  waiting: { downstream: 8, upstream: 9 }, connections: { device: 2, https: 3 }, sessions: { ready: 4 },
  process: { cpu_microseconds: cpu, resident_bytes: 77 }, latencies: [latency({ 1000: accepted })], ...more,
});
const framed = (content) => `event: figures\ndata: ${JSON.stringify(content)}\n\n`;
const change = () => new Promise((resolve) => { figures.addEventListener('change', resolve, { once: true }); });
let push;
await served(() => new Response(new ReadableStream({ start(to) { push = (content) => to.enqueue(new TextEncoder().encode(framed(content))); } })), async () => {
  let next = change();
  figures.start();
  figures.start();
  await new Promise((resolve) => { const look = () => (push ? resolve() : setTimeout(look, 1)); look(); });
  push(figure(1, 10, 0));
  await next;
  same('after one answer', [figures.latest.uptime_milliseconds, figures.samples.length, figures.problem], [1000, 0, null]);
  next = change();
  push(figure(3, 30, 1e6));
  await next;
  same('a sample', figures.samples.map(({ values }) => values), [{
    down_accepted: 10, down_delivered: 20, down_refused: 0, up_accepted: 40, up_delivered: 0, waiting_down: 8, waiting_up: 9, connections: 5,
    sessions: 4, cpu: 50, memory: 77, ack_50: 500, ack_99: 990,
  }]);
  const lengths = [0, 1, 0];
  for (let second = 4; second < 310; second += 1) {
    next = change();
    push(figure(second, 30 + second, 1e6));
    await next;
  }
  same('the samples that are kept', figures.samples.length, 300);
  for (const second of [2, 3, 3]) {
    next = change();
    push(figure(second, 40, 1e6));
    await next;
    same(`samples after a restart of the server, in second ${second}`, figures.samples.length, lengths.shift());
  }
  figures.end();
  same('after the end', [figures.latest, figures.samples], [null, []]);
});
const streams = await served(() => stream(null), async () => {
  const next = change();
  figures.start();
  await next;
  same('after a stream that ended', [figures.latest, figures.problem.message], [null, 'the connection to the server has ended']);
  figures.end();
});
same('streams', streams.length, 1);
await served(() => stream(framed(figure(1, 10, 0))), async () => {
  const next = change();
  figures.start();
  await next;
  same('after the next answer', figures.problem, null);
  figures.end();
});

// Devices whose number begins with some digits.
const { deviceOf, ranges, withPrefix } = await load('js/pages/device-search.js');
same('a number that no device can have', await deviceOf('99999999999999999999'), undefined);
same('the ranges of 1844', ranges('1844').map(({ from, to }) => [from, to]).filter((_, at, all) => at < 2 || at > all.length - 2), [
  [1844n, 1844n], [18440n, 18449n], [18440000000000000000n, 18446744073709551615n],
]);
same('the ranges of 9', ranges('9').length, 19);
const devices = ['5', '6', '51', '60', '512', '700'];
const listed = (size) => async (path) => {
  const after = BigInt(new URL(path, 'https://a').searchParams.get('after'));
  const rest = devices.filter((device) => BigInt(device) > after);
  const rows = rest.slice(0, size);
  return plain({ devices: rows.map((device) => ({ device })), examined: rows.length, ...(rest.length > size ? { next_after: rows.at(-1) } : {}) });
};
for (const size of [1, 3, 10]) {
  await served(listed(size), async () => {
    same(`all with 5, by ${size}`, (await withPrefix('5', { limit: 10 })).devices.map(({ device }) => device), ['5', '51', '512']);
    const first = await withPrefix('5', { limit: 2 });
    same(`two with 5, by ${size}`, [first.devices.map(({ device }) => device), first.next_after], [['5', '51'], '51']);
    const rest = await withPrefix('5', { limit: 2 }, first.next_after);
    same(`the next two with 5, by ${size}`, [rest.devices.map(({ device }) => device), rest.next_after ?? null], [['512'], null]);
  });
}
let number = 0;
const searched = await served(() => plain({ devices: [], examined: 7, next_after: String(10n ** 18n + BigInt(number += 1)) }), async () => {
  const page = await withPrefix('1', { limit: 1, app: 'a' }, String(10n ** 18n));
  same('a search that finds nothing', page, { devices: [], examined: 280, next_after: String(10n ** 18n + 40n) });
});
same('the requests of a search', [searched.length, searched[0].path], [40, '/operator/v1/devices?limit=1&app=a&after=1000000000000000000']);

// Words, and what they mean.
const { detailOf, meaning, reasonOf, reasonsOf, term } = await load('js/glossary.js');
same('a step', meaning('received', 'step').startsWith('The device sent the message'), true);
same('a state', meaning('at_gateway', 'state').startsWith('It was sent to APNs'), true);
same('a word without a meaning', meaning('nothing', 'step', 'state'), '');
same('a milestone', meaning('delivered', 'state', 'milestone') !== '', true);
same('a reason', reasonsOf('INVALID_JSON').find(({ reason }) => reason === 'missing_target')?.meaning, meaning('missing_target', 'refusal'));
same('the code of a reason', reasonOf('missing_target')?.code, 'INVALID_JSON');
same('a word that is no reason', reasonOf('apns'), undefined);
same('reasons of other codes', reasonsOf('INVALID_JSON').every(({ code, meaning: text }) => code === 'INVALID_JSON' && text), true);

each('detailOf', detailOf, [
  [undefined, { word: '', field: '', apple: '' }], ['two words', { word: 'two words', field: '', apple: '' }],
  ['apns_bad_token', { word: 'apns_bad_token', field: '', apple: '' }],
  ['apns_bad_token 400 BadDeviceToken', { word: 'apns_bad_token', field: '', apple: '400 BadDeviceToken' }],
  ['out_of_range time_to_live', { word: 'out_of_range', field: 'time_to_live', apple: '' }],
  ['apns now_or_never', { word: 'apns now_or_never', field: '', apple: '' }],
]);

// What needs elements: not where the functions are tried without a browser.
if (document.createElement) {
  same('a word without a meaning is no button', term('nothing', ['step']).outerHTML, '<span>nothing</span>');
  const shown = term('at_gateway', ['state'], 'waits');
  const [button, box] = shown.children;
  const state = () => [button.textContent, box.hidden, button.getAttribute('aria-expanded')];
  same('a word with a meaning', [...state(), box.textContent.slice(0, 18)], ['waits', true, 'false', 'It was sent to APN']);
  button.click();
  same('a word that was pressed', state(), ['waits', false, 'true']);
  button.click();
  same('a word that was pressed again', state(), ['waits', true, 'false']);
}

// What a role permits.
const { setOperator, mayRun, forRole } = await load('js/operator.js');
for (const [role, permitted] of [[null, [true, false]], ['viewer', [true, false]], ['operator', [true, true]]]) {
  setOperator(role && { name: 'a', role });
  same(`what ${role} may run`, ['status', 'backup'].map(mayRun), permitted);
}
setOperator({ name: 'v', role: 'viewer' });
same('a disabled button', forRole('backup', { disabled: false }), { disabled: true, title: 'needs the role operator' });
same('an enabled button', forRole('status', { disabled: false }), { disabled: false });

// Tables are sorted by their heads, and keep the order when they are loaded again.
const { table } = await load('js/components/table.js');
const made = () => table('Sorted', [{ title: 'Name', by: (row) => row.name, cell: (row) => row.name ?? '–' },
  { title: 'Count', number: true, by: (row) => row.count, cell: (row) => row.count }, { title: 'Fixed', cell: () => '' }],
[{ name: 'b10', count: 2 }, { name: 'b9', count: 10 }, { name: undefined, count: 1 }]);
const named = (element) => [...element.querySelectorAll('tbody th')].map((cell) => cell.textContent).join();
const sorting = made();
const press = (title) => [...sorting.querySelectorAll('button.sort')].find((one) => one.textContent === title).click();
same('as given', [named(sorting), sorting.querySelectorAll('button.sort').length], ['b10,b9,–', 2]);
press('Count');
same('the largest first', [named(sorting), sorting.querySelector('[aria-sort]').ariaSort], ['b9,b10,–', 'descending']);
press('Count');
same('the smallest first', named(sorting), '–,b10,b9');
press('Name');
same('texts by the numbers in them, without a value last', [named(sorting), sorting.querySelectorAll('[aria-sort]').length], ['b9,b10,–', 1]);
same('loaded again', named(made()), 'b9,b10,–');

// How far a message has come.
const { outcome, reachOf } = await load('js/outcome.js');
const lived = (kind, ...steps) => outcome({ kind, steps: steps.map(([step, detail]) => ({ step, detail })) });
same('a delivered message', lived('downstream', ['stored'], ['sent'], ['delivered']), { word: 'delivered', kind: 'good', detail: undefined, isOver: true });
same('a refused message', lived('downstream', ['refused', 'missing_target']), { word: 'refused', kind: 'bad', detail: 'missing_target', isOver: true });
same('a message that Apple refuses', lived('downstream', ['stored'], ['sent'], ['refused', 'apns_bad_token 400 BadDeviceToken'], ['discarded']).word, 'refused');
same('a waiting message', lived('downstream', ['stored'], ['sent']), { word: 'sent', kind: 'plain', detail: undefined, isOver: false });
same('a message to a topic', lived('topic', ['accepted', '3']).isOver, true);
same('a message to a topic whose time is over', lived('topic', ['stored', '/topics/a'], ['expired', 'reached 3, /topics/a']).word, 'stored');
same('what it has reached', reachOf([{ detail: '/topics/a' }, { detail: 'reached 3, /topics/a' }, { detail: 'reached 40, /topics/a' }, {}]), 43);
same('a time that is not over', reachOf([{ detail: '/topics/a' }, {}]), undefined);
same('a message without steps', lived('downstream'), { word: 'unknown', kind: 'plain', detail: undefined, isOver: false });

// Counts by hour and day, and sums of topics.
const { samplesOf, sumsOf } = await load('js/sums.js');
const hours = [{ hour: '2026-03-04T12:00:00Z', messages: { accepted: 5, delivered: 2, forwarded: 1, refused: 1, expired: 1 } },
  { hour: '2026-03-04T10:00:00.000Z', messages: { accepted: 7 } }, { hour: '2026-03-01T10:00:00Z', messages: { accepted: 9 } }];
const samples = (now) => samplesOf(hours, 'hour', 3600e3, 3, now).map(({ time, values }) => [new Date(time).toISOString().slice(11, 13), ...Object.values(values)]);
same('the last hours', samples(noon + 1), [['10', 7, 0, 0], ['11', 0, 0, 0], ['12', 5, 3, 2]]);
same('an hour later', samples(noon + 3600e3), [['11', 0, 0, 0], ['12', 5, 3, 2], ['13', 0, 0, 0]]);
same('a clock behind that of the server', samples(noon - 1), samples(noon + 1));
same('no hours', samplesOf([], 'hour', 3600e3, 2, noon).map(({ values }) => values.accepted), [0, 0]);
same('sums of topics', [...sumsOf([
  { sender_id: '1', topics: ['a', 'b', 'a'], reached: 2 }, { sender_id: '1', topics: ['a'], reached: 3 }, { sender_id: '2', topics: ['a'], reached: 4 },
])], [['1 a', { messages: 2, reached: 5 }], ['1 b', { messages: 1, reached: 2 }], ['2 a', { messages: 1, reached: 4 }]]);

return odd;
