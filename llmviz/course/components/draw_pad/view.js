// A canvas of black and white cells: the hand draws, the button clears.

import { eachFrame, el, fit, follow, live, spotOf, styles } from "../_shared/common.js";

export default function (component) {
  return live(component, (root, send) => new DrawPad(root, send));
}

const WIDE = 240; // pixels
const BRUSH = 1.15; // cells

class DrawPad {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.canvas = el("canvas", "pad", null, { role: "img" });
    this.clear = el("button", "clear", null, { type: "button" });
    this.hint = el("p", "hint");
    root.append(this.canvas, this.hint, this.clear);
    this.soon = eachFrame(() => this.draw());
    this.cells = "";
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.from = null;
      this.drawing = true;
      this.stroke(event);
    });
    this.canvas.addEventListener("pointermove", (event) => this.drawing && this.stroke(event));
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => this.finish());
    this.clear.onclick = () => {
      this.on.fill(0);
      this.draw();
      this.tell();
    };
  }

  update(data) {
    this.data = data;
    this.cells = follow(this, "cells", data.cells, this.cells);
    this.on = read(this.cells, data.side);
    this.canvas.setAttribute("aria-label", data.words.label);
    this.clear.textContent = data.words.clear;
    this.hint.textContent = data.words.hint;
    this.draw();
  }

  layout() {
    this.draw();
  }

  draw() {
    const { side } = this.data;
    const cell = WIDE / side;
    const style = styles(this.root);
    const pen = fit(this.canvas, WIDE, WIDE);
    pen.strokeStyle = style("--lv-hair");
    for (let k = 0; k <= side; k++) {
      pen.strokeRect(0.5, 0.5, WIDE - 1, WIDE - 1);
      pen.strokeRect(k * cell, 0, 0, WIDE);
      pen.strokeRect(0, k * cell, WIDE, 0);
    }
    pen.fillStyle = style("--lv-ink");
    this.on.forEach((on, at) => {
      if (on) pen.fillRect((at % side) * cell, Math.floor(at / side) * cell, cell, cell);
    });
  }

  stroke(event) {
    const { side } = this.data;
    const cell = WIDE / side;
    const [px, py] = spotOf(event, this.canvas);
    const to = [px / cell, py / cell];
    const from = this.from ?? to;
    const steps = Math.max(1, Math.ceil(2 * Math.hypot(to[0] - from[0], to[1] - from[1])));
    for (let k = 0; k <= steps; k++) this.dab(from[0] + ((to[0] - from[0]) * k) / steps, from[1] + ((to[1] - from[1]) * k) / steps);
    this.from = to;
    this.soon();
    event.preventDefault();
  }

  dab(x, y) {
    const { side } = this.data;
    for (let row = 0; row < side; row++)
      for (let column = 0; column < side; column++)
        if (Math.hypot(column + 0.5 - x, row + 0.5 - y) < BRUSH) this.on[row * side + column] = 1;
  }

  finish() {
    if (!this.drawing) return;
    this.drawing = false;
    this.tell();
  }

  tell() {
    this.cells = write(this.on);
    this.send("cells", this.cells);
  }
}

function read(cells, side) {
  const bits = [...cells].flatMap((digit) => [8, 4, 2, 1].map((bit) => (parseInt(digit, 16) & bit ? 1 : 0)));
  return Uint8Array.from({ length: side * side }, (_, at) => bits[at] ?? 0);
}

function write(on) {
  let text = "";
  for (let at = 0; at < on.length; at += 4) text += (8 * on[at] + 4 * on[at + 1] + 2 * on[at + 2] + on[at + 3]).toString(16);
  return text;
}
