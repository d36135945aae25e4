// The line under a picture that asks: what the hand may do, and the button that says "this is it".

import { el } from "./common.js";

export function makeHand(done) {
  const node = el("div", "hand-line");
  const hint = el("span", "muted");
  const button = el("button", "done", null, { type: "button" });
  button.onclick = done;
  node.append(hint, button);
  return {
    node,
    show(words, asks, ready) {
      hint.textContent = words.hint;
      button.textContent = words.done;
      if (!asks && node.contains(node.getRootNode().activeElement)) leave(node.closest(".lv"));
      node.hidden = !asks;
      button.disabled = !ready;
    },
    ready(is) {
      button.disabled = !is;
    },
  };
}

// The button goes: who pressed it by a key is at the picture, which now tells.
function leave(picture) {
  picture.tabIndex = -1;
  picture.focus({ preventScroll: true });
}
