// Events before the driver has attached are kept for it.
const kept = [];

function heard(what) {
  if (self.gcm) self.gcm(JSON.stringify(what));
  else kept.push(what);
}

function flush() {
  while (kept.length) heard(kept.shift());
}

chrome.gcm.onMessage.addListener(message => heard({ message }));
chrome.gcm.onMessagesDeleted.addListener(() => heard({ deleted: true }));
chrome.gcm.onSendError.addListener(error => heard({ error }));

function answer(call) {
  return new Promise(done => call(value => done({ value, error: chrome.runtime.lastError?.message })));
}

const register = sender => answer(done => chrome.gcm.register([sender], done));
const unregister = () => answer(done => chrome.gcm.unregister(done));
const send = message => answer(done => chrome.gcm.send(message, done));
