self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", event => event.waitUntil(clients.claim()));
self.addEventListener("push", event => event.waitUntil(receive(event.data ? event.data.text() : null)));

// A push right after the browser's start must wait for the page.
async function receive(text) {
  await self.registration.showNotification("received");
  let pages = [];
  for (let round = 0; round < 200 && !pages.length; round++) {
    pages = await clients.matchAll({ includeUncontrolled: true });
    if (!pages.length) await new Promise(done => setTimeout(done, 50));
  }
  for (const page of pages) page.postMessage(text);
}
