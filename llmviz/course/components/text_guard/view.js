// Half of a UTF-16 pair (a lone surrogate) has no UTF-8 form: a message with one never arrives.

import { el, live } from "../_shared/common.js";
// Here it becomes the sign for an unknown character before Streamlit reads the box.

export default function (component) {
  return live(component, (root) => new TextGuard(root));
}

const HALF = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

class TextGuard {
  constructor(root) {
    this.root = root;
    this.line = el("p", "line", null, { role: "status" });
    this.line.hidden = true;
    root.appendChild(this.line);
    this.check = (event) => this.mend(event.target);
    // At the document and before all others: the box's own listener then reads the mended text.
    document.addEventListener("input", this.check, true);
  }

  update(data) {
    this.note = data.note;
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
    document.removeEventListener("input", this.check, true);
  }
}
