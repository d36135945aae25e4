// What was learned, kept in this browser over a reload. Each promise fails where it keeps nothing.

const BASE = "llmviz-train";
const PLACE = "last";

function openBase() {
  return new Promise((done, fail) => {
    const asked = indexedDB.open(BASE, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(PLACE);
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => fail(asked.error);
  });
}

async function within(mode, act) {
  const open = await openBase();
  try {
    return await new Promise((done, fail) => {
      const whole = open.transaction(PLACE, mode);
      const asked = act(whole.objectStore(PLACE));
      whole.oncomplete = () => done(asked.result);
      whole.onabort = () => fail(whole.error);
    });
  } finally {
    open.close();
  }
}

let lastTurn = Promise.resolve(); // one after the other, so that nothing forgotten comes back
const inTurn = (mode, act) => (lastTurn = lastTurn.catch(() => {}).then(() => within(mode, act)));

export const keepTraining = (what) => inTurn("readwrite", (place) => place.put(what, PLACE));
export const keptTraining = () => inTurn("readonly", (place) => place.get(PLACE));
export const forgetTraining = () => inTurn("readwrite", (place) => place.delete(PLACE));
