// Asks whether a class has gone on, by a request of its own: a rerun for each question would cost the
// server much more. What the presenter points at is lit; nothing else of this is on the screen.

import { live, partAddress } from "../_shared/common.js";
import { Light } from "../_shared/pointed.js";

export default function (component) {
  return live(component, (root, send) => new ClassWatch(root, send));
}

const PAUSE = 300; // milliseconds between two questions
const PATIENCE = 5000; // for an answer, and until the page is told once more

class ClassWatch {
  constructor(root, send) {
    this.send = send;
    this.light = new Light(root);
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
    const [version, lit] = await fetch(partAddress(this.data.address), asked)
      .then(heard)
      .catch(() => [null, null]); // no connection
    this.looking = false;
    if (!this.timer) return;
    this.light.show(lit, true);
    const now = performance.now();
    const known = version === this.told.version && now - this.told.at < PATIENCE;
    if (version === null || version === this.data.version || known) return;
    this.told = { version, at: now };
    this.send("moved", [version, now]);
  }

  destroy() {
    clearInterval(this.timer);
    this.timer = null;
    this.light.destroy();
  }
}

// The version of the class's place, and what its presenter points at.
async function heard(answer) {
  if (!answer.ok) return [null, null];
  const [version, lit] = (await answer.text()).split("\n");
  return [Number(version), lit ? JSON.parse(lit) : null];
}
