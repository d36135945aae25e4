// Keeps the answers to the two tests in this browser; nothing of this is on the screen.

import { live } from "../_shared/common.js";

const NAME = "llmviz.tests";
const LONGEST = 20000; // characters: more was not written here

export default function (component) {
  return live(component, (root, send) => new TestKeeper(send));
}

class TestKeeper {
  constructor(send) {
    this.send = send;
  }

  update({ held, asks }) {
    try {
      if (asks) {
        const kept = localStorage.getItem(NAME) ?? "";
        this.send("kept", [kept.length > LONGEST ? "" : kept, performance.now()]);
      } else if (held) localStorage.setItem(NAME, held);
      else localStorage.removeItem(NAME);
    } catch {
      if (asks) this.send("kept", ["", performance.now()]); // all works, nothing is remembered
    }
  }

  destroy() {}
}
