// The whole of a matrix that is seen through a window: a pixel a number, dragged to move the window.

import { el, fit } from "../_shared/common.js";
import { worded } from "../_shared/worded.js";

const MINI = { tallest: 200, strip: 36, shades: 127, note: 170 };

export class Minimap {
  // `moved(axis, at)` and `done()` are called while the window moves and when it is let go.
  constructor(label, moved, done) {
    this.moved = moved;
    this.done = done;
    this.canvas = el("canvas", "mini", null, { role: "slider", tabindex: "0", "aria-label": worded("window on {name}", { name: label }) });
    this.small = el("canvas");
    this.note = el("span", "seen");
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.drag(event);
    });
    this.canvas.addEventListener("pointermove", (event) => event.buttons && this.drag(event));
    this.canvas.addEventListener("pointerup", () => this.done());
    this.canvas.addEventListener("keydown", (event) => this.keys(event));
  }

  // Take another matrix of the same name.
  show(heat) {
    this.heat = heat;
    this.image = null;
  }

  // As wide as the cells above it; wider, if that gives every number a pixel of its own.
  layout() {
    const { m, width, cols, w } = this.heat;
    this.width = Math.round(Math.max(cols * w, Math.min(m.cols, width - 2)));
    this.canvas.style.marginLeft = `${Math.max(0, Math.floor(width - 2 - this.width))}px`;
    this.note.style.marginLeft = this.canvas.style.marginLeft;
    this.note.style.maxWidth = `${Math.max(this.width, MINI.note)}px`; // a long one goes on below
    this.height = Math.min(MINI.tallest, m.rows * Math.max(1, Math.floor(MINI.strip / m.rows)));
    this.image = null;
  }

  picture() {
    const { m } = this.heat;
    const image = this.small;
    [image.width, image.height] = [m.cols, m.rows];
    const pen = image.getContext("2d");
    const data = pen.createImageData(m.cols, m.rows);
    const pixels = new Uint32Array(data.data.buffer);
    const shades = Uint32Array.from({ length: 2 * MINI.shades + 1 }, (_, k) => {
      const [r, g, b] = this.heat.color(((k - MINI.shades) / MINI.shades) * m.limit);
      return (255 << 24) | (b << 16) | (g << 8) | r;
    });
    const last = shades.length - 1;
    for (let k = 0; k < pixels.length; k++) {
      const at = Math.round(MINI.shades * (m.values[k] / m.limit + 1));
      pixels[k] = shades[at < 0 ? 0 : at > last ? last : at];
    }
    pen.putImageData(data, 0, 0);
    return image;
  }

  draw(ghost, lit) {
    const { heat, width, height } = this;
    const { m } = heat;
    const pen = fit(this.canvas, width, height);
    this.canvas.style.visibility = ghost ? "hidden" : "visible";
    this.note.textContent = this.sentence();
    this.canvas.setAttribute("aria-valuetext", this.sentence());
    this.canvas.setAttribute("aria-valuenow", heat.colAxis ? heat.col0 : heat.row0);
    this.canvas.setAttribute("aria-valuemax", heat.colAxis ? m.cols - heat.cols : m.rows - heat.rows);
    if (ghost) return;
    this.image ??= this.picture();
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.image, 0, 0, width, height);
    const [sx, sy] = [width / m.cols, height / m.rows];
    const box = (rows, cols, color, line) => {
      const [r0, r1] = rows ?? [0, m.rows - 1];
      const [c0, c1] = cols ?? [0, m.cols - 1];
      pen.strokeStyle = color;
      pen.lineWidth = line;
      pen.strokeRect(
        c0 * sx + line / 2,
        r0 * sy + line / 2,
        Math.max(1, (c1 - c0 + 1) * sx - line),
        Math.max(1, (r1 - r0 + 1) * sy - line),
      );
    };
    for (const band of lit?.bands ?? []) box(band.rows, band.cols, heat.ink, 1);
    if (lit?.cell) box([lit.cell[0], lit.cell[0]], [lit.cell[1], lit.cell[1]], heat.ink, 1);
    box([heat.row0, heat.row0 + heat.rows - 1], [heat.col0, heat.col0 + heat.cols - 1], heat.accent, 2);
  }

  sentence() {
    const { heat } = this;
    const part = (axis, size) => ({ from: axis.at, to: axis.at + axis.show - 1, size });
    const seen = [];
    if (heat.rowAxis) seen.push(worded("rows {from}–{to} of {size}", part(heat.rowAxis, heat.m.rows)));
    if (heat.colAxis) seen.push(worded("columns {from}–{to} of {size}", part(heat.colAxis, heat.m.cols)));
    const thinned = Math.ceil(Math.max(heat.m.cols / this.width, heat.m.rows / this.height));
    if (thinned > 1) seen.push(worded("the small picture has one number in {thinned}", { thinned }));
    return seen.join("; ");
  }

  drag(event) {
    const box = this.canvas.getBoundingClientRect();
    const { heat } = this;
    const from = (share, axis) => Math.round(share * axis.size - axis.show / 2);
    if (heat.colAxis) this.moved(heat.colAxis, from((event.clientX - box.left) / box.width, heat.colAxis));
    if (heat.rowAxis) this.moved(heat.rowAxis, from((event.clientY - box.top) / box.height, heat.rowAxis));
    event.preventDefault();
  }

  keys(event) {
    const { rowAxis, colAxis } = this.heat;
    const step = event.shiftKey ? null : 1;
    const to = {
      ArrowLeft: [colAxis, -(step ?? colAxis?.show)],
      ArrowRight: [colAxis, step ?? colAxis?.show],
      ArrowUp: [rowAxis ?? colAxis, -(step ?? rowAxis?.show ?? colAxis?.show)],
      ArrowDown: [rowAxis ?? colAxis, step ?? rowAxis?.show ?? colAxis?.show],
      Home: [colAxis ?? rowAxis, -1e9],
      End: [colAxis ?? rowAxis, 1e9],
    }[event.key];
    if (!to?.[0]) return;
    this.moved(to[0], to[0].at + to[1]);
    this.done();
    event.preventDefault();
    event.stopPropagation();
  }
}
