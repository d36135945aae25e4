// Asks whether a class has gone on, by a request of its own: a rerun for each question would cost the
// server much more. Nothing of this is on the screen.

import { live, partAddress } from "../_shared/common.js";

export default function (component) {
  return live(component, (_, send) => new ClassWatch(send));
}

const PAUSE = 700; // milliseconds between two questions
const PATIENCE = 5000; // for an answer, and until the page is told once more

class ClassWatch {
  constructor(send) {
    this.send = send;
    this.told = { version: null, at: 0 };
    this.timer = setInterval(() => this.look(), PAUSE);
  }

  update(data) {
    this.data = data;
  }

  async look() {
    if (this.looking || !this.data) return;
    this.looking = true;
    const asked = { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
    const version = await fetch(partAddress(this.data.address), asked)
      .then(versionIn)
      .catch(() => null); // no connection
    this.looking = false;
    const now = performance.now();
    const known = version === this.told.version && now - this.told.at < PATIENCE;
    if (version === null || version === this.data.version || known || !this.timer) return;
    this.told = { version, at: now };
    this.send("moved", [version, now]);
  }

  destroy() {
    clearInterval(this.timer);
    this.timer = null;
  }
}

async function versionIn(answer) {
  return answer.ok ? Number(await answer.text()) : null;
}
