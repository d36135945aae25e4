// Half of a UTF-16 pair (a lone surrogate) has no UTF-8 form: a message with one never arrives.

import { el, live } from "../_shared/common.js";
// Here it becomes the sign for an unknown character before Streamlit reads the box.

export default function (component) {
  return live(component, (root, send) => new TextGuard(root, send));
}

const PRESSES = ["pointerdown", "click"];

// The boxes that hold a text. A menu has a field, too, and closes where this one is left.
const TEXT_BOX = "[data-testid=stTextArea] textarea, [data-testid=stTextInput] input";

// Streamlit sends what a box holds when the box is left; a locked one is never left.
function commit(box) {
  if (box?.matches(TEXT_BOX)) box.dispatchEvent(new FocusEvent("focusout", { bubbles: true }));
}

// What is typed into such a box is sent after a short rest, one text at a time, and at Enter.
const LIVE = "[class*='st-key-lv-live']";
const REST = 150; // ms
const RUNNING = "[data-testid=stApp]:not([data-test-script-state=notRunning])";

const HALF = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

const LOOK = 20; // ms between two looks whether the box has been locked

class TextGuard {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.line = el("p", "line", null, { role: "status" });
    this.line.hidden = true;
    root.appendChild(this.line);
    this.check = (event) => {
      this.mend(event.target);
      if (!event.isComposing && event.target.closest?.(LIVE)) this.follow(event.target, REST);
    };
    this.enter = (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.target.closest?.(LIVE)) return;
      event.preventDefault();
      this.follow(event.target, 0);
    };
    // At the document and before all others: the box's own listener then reads the mended text.
    document.addEventListener("input", this.check, true);
    document.addEventListener("keydown", this.enter, true);
    // What is pressed may make the page write into the box: what was typed is sent before.
    this.press = (event) => {
      const box = document.activeElement;
      if (!event.composedPath().includes(box)) commit(box);
    };
    for (const kind of PRESSES) document.addEventListener(kind, this.press, true);
  }

  update(data) {
    this.note = data.note;
    if (data.lock && data.lock !== this.lock) this.acknowledge(data.lock);
    this.lock = data.lock;
  }

  // Send what a box holds, unless more is typed meanwhile, once the server has drawn the last text.
  follow(box, rest) {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      if (document.querySelector(RUNNING)) this.follow(box, LOOK);
      else commit(box);
    }, rest);
  }

  // Say that nobody types any more, after what was typed until then has been sent.
  acknowledge(lock) {
    setTimeout(() => {
      if (this.lock !== lock) return;
      const boxes = [...document.querySelectorAll("textarea:disabled")];
      boxes.forEach(commit);
      if (boxes.length) setTimeout(() => this.send("locked", lock), LOOK);
      else this.acknowledge(lock);
    }, LOOK);
  }

  mend(box) {
    const kind = [HTMLTextAreaElement, HTMLInputElement].find((type) => box instanceof type);
    if (!kind || typeof box.value !== "string") return;
    const whole = box.value.replace(HALF, "\uFFFD");
    this.line.hidden = whole === box.value;
    if (this.line.hidden) return;
    const caret = box.selectionStart;
    // The setter of the prototype: a framework may have put its own on the element.
    Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(box, whole);
    if (caret !== null) box.setSelectionRange(caret, caret);
    this.line.textContent = this.note;
  }

  destroy() {
    clearTimeout(this.resting);
    document.removeEventListener("input", this.check, true);
    document.removeEventListener("keydown", this.enter, true);
    for (const kind of PRESSES) document.removeEventListener(kind, this.press, true);
    this.lock = null;
  }
}
