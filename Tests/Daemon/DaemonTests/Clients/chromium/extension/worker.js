// Events before the driver has attached are kept for it.
const kept = [];

function receive(what) {
  if (self.gcm) self.gcm(JSON.stringify(what));
  else kept.push(what);
}

function flush() {
  while (kept.length) receive(kept.shift());
}

chrome.gcm.onMessage.addListener(message => receive({ message }));
chrome.gcm.onMessagesDeleted.addListener(() => receive({ deleted: true }));
chrome.gcm.onSendError.addListener(error => receive({ error }));

function answer(call) {
  return new Promise(done => call(value => done({ value, error: chrome.runtime.lastError?.message })));
}

const register = sender => answer(done => chrome.gcm.register([sender], done));
const unregister = () => answer(done => chrome.gcm.unregister(done));
const send = message => answer(done => chrome.gcm.send(message, done));
