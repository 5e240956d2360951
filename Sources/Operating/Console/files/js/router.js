// Every page has an address after the #, so that it can be kept and shared, and nothing of it is sent to the server.

/** Returns the parts of the current address: the decoded segments of its path, and its query. */
export function address() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { segments: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

function decode(segment) {
  try { return decodeURIComponent(segment); } catch { return segment; }
}

/** Returns the address of a page: `link(['senders', '1'], { after: 5 })` is `#/senders/1?after=5`. */
export function link(segments, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false);
  const text = new URLSearchParams(kept).toString();
  return `#/${segments.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

/** Goes to a page. */
export function go(segments, query = {}) {
  const next = link(segments, query);
  if (next === location.hash) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = next;
}
