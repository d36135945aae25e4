// A whole table of vectors, a pixel a number, folded into columns of rows; below it a close-up.

import { shorten } from "../_shared/chart.js";
import { eachFrame, el, fit, live, onLeave, remember, remembered, rgbText, spotOf, zoomOf } from "../_shared/common.js";
import { number, whole } from "../_shared/numbers.js";
import { TableSheet, digits3 } from "./sheet.js";

export default function (component) {
  return live(component, (root, send) => new VectorTable(root, send));
}

const FOLD = { gap: 8, tallest: 800, tallestOnPhone: 560 }; // between two blocks of rows; height of a block
const SIZES = [14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 8];
const CLOSE = { rows: 9, height: 19, gutter: 132 };

class VectorTable {
  constructor(root, send) {
    this.root = root;
    this.sheet = new TableSheet(root);
    this.send = send;
    this.whole = el("div", "whole");
    this.canvas = this.picture("application");
    this.over = el("canvas", "over", null, { "aria-hidden": "true" });
    this.whole.append(this.canvas, this.over);
    this.below = el("div", "below");
    this.close = el("div", "close");
    this.loupe = this.picture("application");
    this.close.append(this.loupe);
    this.told = el("div", "told", null, { "aria-live": "polite" });
    root.append(this.close, this.told, this.whole, this.below);
    this.chosen = null;
    this.marks = [];
    this.at = null; // [row, column] looked at
    this.hear = (event) => event.detail.table === this.data?.table && this.take(event.detail);
    window.addEventListener("llmviz-choice", this.hear);
    const look = eachFrame((at) => this.look(at));
    for (const [canvas, hit] of [
      [this.canvas, (e) => this.hitWhole(e)],
      [this.loupe, (e) => this.hitClose(e)],
    ]) {
      canvas.addEventListener("pointermove", (e) => look(hit(e)));
      onLeave(canvas, () => look(null));
      canvas.addEventListener("blur", () => look(null));
      canvas.addEventListener("click", (e) => this.choose(hit(e)?.[0]));
      canvas.addEventListener("keydown", (e) => this.keys(e));
    }
  }

  picture(role) {
    const canvas = el("canvas", null, null, { role });
    canvas.tabIndex = 0;
    return canvas;
  }

  update(data, width) {
    this.data = data;
    this.sheet.take(data);
    this.at = null;
    const size = `${whole(data.rows)} rows, ${whole(data.columns)} columns`;
    this.canvas.setAttribute("aria-label", `${data.words.name}, ${size}; arrow keys move, Enter chooses a row`);
    this.loupe.setAttribute("aria-label", `${data.words.close}; arrow keys move, Enter chooses a row`);
    this.layout(width);
    const choice = window.llmvizChoices?.[data.table] ?? remembered(this.canvas, "choice", data.table);
    if (choice) this.take(choice);
  }

  // What the page says of the choice; it may say so before the table is here.
  take({ chosen, marks }) {
    const inside = (row) => row < this.data.rows;
    this.chosen = chosen !== null && inside(chosen) ? chosen : null;
    this.marks = marks.filter(inside);
    remember(this.canvas, "choice", { chosen, marks }, this.data.table); // a saved page has nobody to say it
    this.look(this.at);
  }

  destroy() {
    window.removeEventListener("llmviz-choice", this.hear);
  }

  // The largest cells with which the whole table stays below a height.
  layout(width) {
    this.width = width;
    const { rows, columns } = this.data;
    const tallest = width < 600 ? FOLD.tallestOnPhone : FOLD.tallest;
    const fitted = (s) => {
      const blocks = Math.max(1, Math.floor((width + FOLD.gap) / (columns * s + FOLD.gap)));
      const used = Math.min(blocks, Math.ceil(rows / Math.max(1, Math.floor(tallest / s))));
      return { s, blocks: used, each: Math.ceil(rows / used) };
    };
    const fits = ({ s, each }) => columns * s <= width && each * s <= tallest;
    this.fold = SIZES.map(fitted).find(fits) ?? fitted(SIZES[SIZES.length - 1]);
    this.sheet.palette();
    this.draw();
    this.legend();
    this.look(null);
  }

  draw() {
    const { rows, columns } = this.data;
    const { s, blocks, each } = this.fold;
    this.size = [blocks * columns * s + (blocks - 1) * FOLD.gap, each * s];
    const pen = fit(this.canvas, this.size[0], this.size[1]);
    pen.imageSmoothingEnabled = false;
    for (let b = 0; b < blocks; b++) {
      const count = Math.min(each, rows - b * each);
      if (count > 0) pen.drawImage(this.sheet.pixels(b * each, count), this.left(b), 0, columns * s, count * s);
    }
  }

  left(block) {
    return block * (this.data.columns * this.fold.s + FOLD.gap);
  }

  corner(row) {
    const { s, each } = this.fold;
    return [this.left(Math.floor(row / each)), (row % each) * s];
  }

  legend() {
    const { limit, words } = this.data;
    const { s } = this.fold;
    const digits = limit >= 10 ? 0 : limit >= 1 ? 1 : 2;
    const line = el("span", "scale num");
    line.append(el("span", null, number(-limit, digits)), el("span", "ramp"), el("span", null, number(limit, digits)));
    const ratio = (window.devicePixelRatio || 1) * zoomOf(this.canvas);
    const every = s * ratio < 0.99 ? Math.round(1 / (s * ratio)) ** 2 : 1;
    const drawn = every > 1 ? words.some.replace("{every}", String(every)) : words.all;
    this.below.replaceChildren(line, el("span", null, words.clipped), el("span", null, drawn));
  }

  // ---- looking

  look(at) {
    this.at = at;
    const row = at ? at[0] : this.chosen;
    this.light(row);
    this.closeUp(row ?? 0);
    this.tell(row, at?.[1]);
  }

  // The row that is looked at: bright, while everything else fades.
  light(row) {
    const [w, h] = this.size;
    const pen = fit(this.over, w + 16, h + 8);
    this.over.style.left = "-8px";
    this.over.style.top = "-4px";
    pen.translate(8, 4);
    const { columns } = this.data;
    const { s } = this.fold;
    pen.fillStyle = this.sheet.accent;
    for (const mark of this.marks) {
      const [x, y] = this.corner(mark);
      pen.fillRect(x - 7, y - 1, 5, Math.max(3, s));
    }
    if (row === null || row === undefined) return;
    const [x, y] = this.corner(row);
    const tall = Math.max(s, 5);
    pen.globalAlpha = 0.45;
    pen.fillStyle = rgbText(this.sheet.paper);
    pen.fillRect(0, 0, w, h);
    pen.globalAlpha = 1;
    pen.imageSmoothingEnabled = false;
    const top = Math.max(0, Math.min(h - tall, y + s / 2 - tall / 2));
    pen.drawImage(this.sheet.pixels(row, 1), x, top, columns * s, tall);
    pen.strokeStyle = row === this.chosen ? this.sheet.accent : this.sheet.ink;
    pen.lineWidth = 2;
    pen.strokeRect(x - 1.5, top - 1.5, columns * s + 3, tall + 3);
  }

  closeUp(row) {
    const { rows, columns, labels } = this.data;
    const count = Math.min(CLOSE.rows, rows);
    const gutter = this.width < 600 ? 104 : CLOSE.gutter;
    // Near an edge the rows stay where they are and the lit one moves.
    if (this.first === undefined || row < this.first || row >= this.first + count || !this.inClose) {
      this.first = Math.max(0, Math.min(rows - count, row - Math.floor(count / 2)));
    }
    const w = Math.min(26, (this.width - gutter) / columns);
    this.cell = { w, gutter, count };
    const pen = fit(this.loupe, gutter + columns * w, count * CLOSE.height + 2);
    pen.imageSmoothingEnabled = false;
    pen.textBaseline = "middle";
    const tile = this.sheet.pixels(this.first, count);
    for (let i = 0; i < count; i++) {
      const own = this.first + i;
      const y = 1 + i * CLOSE.height;
      const lit = own === row;
      pen.globalAlpha = lit || this.chosen === own ? 1 : 0.5;
      pen.drawImage(tile, 0, i, columns, 1, gutter, y, columns * w, CLOSE.height - 2);
      pen.globalAlpha = 1;
      pen.textAlign = "right";
      pen.font = `${lit ? "700 " : ""}12px ${this.sheet.font}`;
      pen.fillStyle = lit ? this.sheet.ink : this.sheet.muted;
      pen.fillText(shorten(pen, labels[own], gutter - 54), gutter - 8, y + CLOSE.height / 2 - 1);
      pen.font = `11px ${this.sheet.mono}`;
      pen.textAlign = "left";
      pen.fillStyle = this.sheet.muted;
      pen.fillText(String(own), 0, y + CLOSE.height / 2 - 1);
      if (own !== this.chosen) continue;
      pen.strokeStyle = this.sheet.accent;
      pen.lineWidth = 2;
      pen.strokeRect(gutter - 1, y - 1, columns * w + 1, CLOSE.height);
    }
    if (!this.at) return;
    pen.strokeStyle = this.sheet.ink;
    pen.lineWidth = 1.5;
    pen.strokeRect(gutter + this.at[1] * w - 1, 1 + (row - this.first) * CLOSE.height - 1, w + 2, CLOSE.height);
  }

  tell(row, column) {
    const { labels, words, columns } = this.data;
    if (row === null || row === undefined) {
      this.told.replaceChildren(el("span", "muted", words.hint));
      return;
    }
    const name = el("b", null, labels[row]);
    if (column === undefined) {
      const text = words.row.replace("{row}", whole(row)).replace("{columns}", whole(columns));
      this.told.replaceChildren(name, el("span", null, ` ${text}`));
      return;
    }
    const value = this.sheet.values[row * columns + column];
    const text = words.cell.replace("{row}", whole(row)).replace("{column}", whole(column));
    this.told.replaceChildren(name, el("span", "muted", ` ${text} `), el("b", null, digits3(value)));
  }

  hitWhole(event) {
    this.inClose = false;
    const [x, y] = spotOf(event, this.canvas);
    const { s, blocks, each } = this.fold;
    const { rows, columns } = this.data;
    const block = Math.min(blocks - 1, Math.max(0, Math.floor(x / (columns * s + FOLD.gap))));
    const column = Math.floor((x - this.left(block)) / s);
    const row = block * each + Math.floor(y / s);
    if (row < 0 || row >= rows || row - block * each >= each) return null;
    return [row, Math.max(0, Math.min(columns - 1, column))];
  }

  hitClose(event) {
    this.inClose = true;
    const [x, y] = spotOf(event, this.loupe);
    const { w, gutter, count } = this.cell;
    const i = Math.floor((y - 1) / CLOSE.height);
    const column = Math.floor((x - gutter) / w);
    if (i < 0 || i >= count) return null;
    return [this.first + i, Math.max(0, Math.min(this.data.columns - 1, column))];
  }

  choose(row) {
    if (row === undefined || row === null) return;
    this.chosen = row;
    this.look(this.at);
    // With a number of its own: the same row can be clicked again after the page chose another.
    this.send("chosen", [row, (this.clicks = (this.clicks ?? 0) + 1)]);
  }

  keys(event) {
    const { rows, columns } = this.data;
    const [row, column] = this.at ?? [this.chosen ?? 0, 0];
    const to = {
      ArrowDown: [row + 1, column],
      ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      PageDown: [row + 50, column],
      PageUp: [row - 50, column],
      Home: [0, column],
      End: [rows - 1, column],
    }[event.key];
    if (to) {
      this.inClose = true;
      const clamp = (n, top) => Math.max(0, Math.min(top - 1, n));
      this.look([clamp(to[0], rows), clamp(to[1], columns)]);
    } else if (event.key === "Enter" || event.key === " ") this.choose(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
