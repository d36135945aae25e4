// The worker that keeps the files of this site in the browser, so that its pages open without a network.
// VERSION and FILES are set before this text.

const SITE = `llmviz ${self.registration.scope} `;

self.addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(SITE + self.VERSION);
    await cache.addAll(self.FILES);
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith(SITE) && name !== SITE + self.VERSION);
    await Promise.all(old.map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || !url.href.startsWith(self.registration.scope)) return;
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  const answer = async () => {
    const cache = await caches.open(SITE + self.VERSION);
    return (await cache.match(url.origin + url.pathname)) ?? fetch(event.request);
  };
  event.respondWith(answer());
});
