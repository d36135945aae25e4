// Nested fields: each holds the next one. A click, or Enter, opens one; arrow keys go in and out.

import { el, follow, live } from "../_shared/common.js";

export default function (component) {
  return live(component, (root, send) => new Rings(root, send));
}

class Rings {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.chosen = 0;
    root.addEventListener("click", (event) => {
      const field = event.target.closest?.(".field");
      if (field) this.choose(Number(field.dataset.at));
    });
    root.addEventListener("keydown", (event) => this.keys(event));
  }

  update(data) {
    this.chosen = follow(this, "chosen", data.chosen, this.chosen);
    const frame = el("div", "frame", null, { role: "radiogroup", "aria-label": data.label });
    this.heads = [];
    let inside = frame;
    data.names.forEach((name, at) => {
      const field = el("div", "field");
      field.dataset.at = at;
      const head = el("div", "head", null, { role: "radio" });
      head.append(el("span", "name", name), el("span", "note", data.notes[at]));
      field.append(head);
      inside.append(field);
      inside = field;
      this.heads.push(head);
    });
    this.root.replaceChildren(frame);
    this.mark();
  }

  mark() {
    this.heads.forEach((head, at) => {
      head.parentElement.classList.toggle("open", at === this.chosen);
      head.setAttribute("aria-checked", String(at === this.chosen));
      head.tabIndex = at === this.chosen ? 0 : -1;
    });
  }

  choose(at) {
    if (at === this.chosen) return;
    this.chosen = at;
    this.mark();
    this.send("chosen", at);
  }

  keys(event) {
    const here = this.heads.indexOf(event.target);
    if (here < 0) return;
    const to = { ArrowDown: here + 1, ArrowRight: here + 1, ArrowUp: here - 1, ArrowLeft: here - 1, Enter: here, " ": here }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.max(0, Math.min(this.heads.length - 1, to));
    this.choose(next);
    this.heads[next].focus();
  }
}
