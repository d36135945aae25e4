// The diagram of a computation in stages: the stream from left to right, branches that leave it and
// come back. A box is a button that shows its stage.

import { el, svg } from "../_shared/common.js";

const BAR = { box: 30, up: 16, down: 76, height: 112, wide: 74, dot: 24, least: 27 };

export class StageBar {
  // `choose(step)` is called for a box that was pressed, `keys(event)` for keys on the diagram.
  constructor(root, choose, keys) {
    this.choose = choose;
    this.node = el("div", "stages", null, { role: "group", "aria-label": "stages" });
    this.node.addEventListener("keydown", keys);
    this.node.hidden = true;
    this.node.addEventListener("scroll", () => this.titleStays());
    root.appendChild(this.node);
    this.stages = [];
    this.boxes = [];
  }

  update(stages) {
    this.node.hidden = !stages;
    this.stages = stages ?? [];
    this.boxes = this.stages.map((stage, k) => {
      const box = el("button", "stage", null, { type: "button", "data-stage": k, "aria-label": stage.title, title: stage.title });
      box.style.setProperty("--role", `var(--lv-${stage.role === "neutral" ? "muted" : stage.role})`);
      box.style.setProperty("--role-text", `var(--lv-${stage.role}-text)`);
      box.onclick = () => this.choose(k);
      return box;
    });
    this.title = el("p", "stage-title");
    this.node.replaceChildren(...this.boxes, this.title);
  }

  show(step) {
    this.boxes.forEach((box, k) => {
      box.classList.toggle("now", k === step);
      if (k === step) box.setAttribute("aria-current", "step");
      else box.removeAttribute("aria-current");
    });
    if (this.title) this.title.textContent = this.stages[step]?.title ?? "";
    const box = this.boxes[step];
    if (!box) return;
    const { clientWidth, scrollLeft } = this.node;
    const left = box.offsetLeft - BAR.dot;
    this.node.scrollLeft = Math.min(left, Math.max(scrollLeft, left + box.offsetWidth + 2 * BAR.dot - clientWidth));
  }

  // Where the boxes scroll, the title does not.
  titleStays() {
    this.title.style.left = `${this.node.scrollLeft}px`;
  }

  layout(room) {
    if (!this.stages.length) return;
    const width = Math.max(room, BAR.least * this.stages.length); // a finger needs so much
    const slot = width / this.stages.length;
    const wide = slot >= BAR.wide;
    const centre = (k) => slot * (k + 0.5);
    const middle = (k) => (this.stages[k].branch === null ? BAR.down : BAR.up) + BAR.box / 2;
    this.stages.forEach((stage, k) => {
      const box = this.boxes[k];
      const round = stage.box === "+";
      const size = round ? Math.min(BAR.dot, slot - 2) : Math.min(slot - (wide ? 12 : 3), 118);
      box.textContent = wide ? stage.box : stage.short;
      box.classList.toggle("round", round);
      box.style.width = `${size}px`;
      box.style.height = `${round ? size : BAR.box}px`;
      box.style.left = `${centre(k) - size / 2}px`;
      box.style.top = `${middle(k) - (round ? size : BAR.box) / 2}px`;
    });
    this.node.classList.toggle("tight", !wide);
    this.lines?.remove();
    this.lines = svg("svg", { width, height: BAR.height, "aria-hidden": "true" });
    const base = BAR.down + BAR.box / 2;
    this.line(`M${centre(0)} ${base}H${width - 2}`, "stream");
    this.line(`M${width - 8} ${base - 5}l6 5l-6 5`, "stream");
    this.branches(centre, slot, BAR.up + BAR.box / 2, base);
    this.node.prepend(this.lines);
    this.node.style.height = `${BAR.height + 26}px`;
  }

  // Up from the stream before the first stage of a branch, along it, and down to where it is added.
  branches(centre, slot, top, base) {
    this.stages.forEach((stage, k) => {
      if (stage.branch === null || this.stages[k - 1]?.branch === stage.branch) return;
      let end = k;
      while (this.stages[end + 1]?.branch === stage.branch) end++;
      const from = centre(k) - slot / 2;
      const to = end + 1 < this.stages.length ? centre(end + 1) : centre(end) + slot / 2;
      this.line(`M${from} ${base}V${top + 10}Q${from} ${top} ${from + 10} ${top}H${to - 10}Q${to} ${top} ${to} ${top + 10}V${base - 12}`);
      this.line(`M${to - 4} ${base - 18}l4 6l4 -6`);
    });
  }

  line(d, kind = "branch") {
    this.lines.appendChild(svg("path", { d, class: kind, fill: "none" }));
  }
}
