// A table of positions as a picture; the column and the row under the pointer as curves.

import { GRID, dot, frame, line, plotIn, upright } from "../_shared/chart.js";
import { css, eachFrame, el, fit, follow, live, mix, onLeave, rgb, rgbText, sentence, spotOf, styles } from "../_shared/common.js";
import { ARROWS } from "../_shared/keys.js";
import { number } from "../_shared/numbers.js";

export default function (component) {
  return live(component, (root, send) => new PositionsView(root, send));
}

const FIELD = { left: 42, top: 18, right: 4, tall: 400, curve: 150 };
const CURVE = { left: 40, right: 10, top: 8, bottom: 32 };
const LOOK = { ...GRID, face: "--mono", tick: 11, beside: 5, exact: true };

class PositionsView {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.reading = el("p", "said num", null, { "aria-live": "polite" });
    this.stage = el("div", "stage");
    this.picture = el("canvas", "picture", null, { tabindex: 0, role: "application" });
    this.scale = el("div", "scale num");
    const left = el("div", "left");
    left.append(this.picture, this.scale);
    this.curves = [0, 1].map(() => {
      const title = el("div", "title");
      const canvas = el("canvas", null, null, { "aria-hidden": "true" });
      return { title, canvas };
    });
    const right = el("div", "right");
    for (const { title, canvas } of this.curves) right.append(title, canvas);
    this.stage.append(left, right);
    root.append(this.reading, this.stage);
    this.hover = null;
    this.paint = eachFrame(() => this.draw());
    this.picture.addEventListener("pointermove", (event) => this.look(this.cell(event)));
    onLeave(this.picture, () => this.look(null));
    this.picture.addEventListener("click", (event) => this.settle(this.cell(event)));
    this.picture.addEventListener("keydown", (event) => this.key(event));
  }

  update(data, width) {
    const before = this.data;
    this.data = data;
    [this.rows, this.cols] = data.table.shape;
    const place = follow(this, "place", data.place, this.place);
    this.place = [Math.min(place[0], this.rows - 1), Math.min(place[1], this.cols - 1)];
    if (!before || before.table.length !== data.table.length) this.hover = null;
    this.picture.setAttribute("aria-label", data.words.label);
    this.layout(width);
  }

  layout(width) {
    const narrow = width < 700;
    this.stage.classList.toggle("narrow", narrow);
    const room = narrow ? width : Math.round(width * 0.52);
    this.side = narrow ? width : width - room - 28;
    const w = Math.max(1, Math.min(14, (room - FIELD.left - FIELD.right) / this.cols));
    const h = Math.max(1, Math.min(14, FIELD.tall / this.rows));
    this.cellSize = [w, h];
    this.width = FIELD.left + w * this.cols + FIELD.right;
    this.height = FIELD.top + h * this.rows + 4;
    this.colors();
    this.image = this.render();
    this.draw();
  }

  colors() {
    const get = (name) => css(this.root, name);
    this.paper = rgb(get("--st-background-color") || get("--lv-surface"));
    this.poles = [rgb(get("--lv-neutral-neg")), rgb(get("--lv-neutral-pos"))];
    this.ink = get("--lv-ink");
    this.muted = get("--lv-muted");
    this.accent = get("--lv-accent");
    this.mono = `11px ${get("--mono") || "monospace"}`;
    this.font = `12px ${get("--st-font") || "sans-serif"}`;
  }

  // One pixel a number; it is drawn larger, without smoothing.
  render() {
    const canvas = document.createElement("canvas");
    canvas.width = this.cols;
    canvas.height = this.rows;
    const pen = canvas.getContext("2d");
    const pixels = pen.createImageData(this.cols, this.rows);
    const { table, limit } = this.data;
    for (let i = 0; i < table.length; i++) {
      const share = table[i] / limit;
      const color = mix(this.paper, this.poles[share < 0 ? 0 : 1], Math.abs(share));
      pixels.data.set([...color, 255], 4 * i);
    }
    pen.putImageData(pixels, 0, 0);
    const [low, high] = this.poles.map(rgbText);
    const ramp = el("span", "ramp");
    ramp.style.background = `linear-gradient(90deg, ${low}, ${rgbText(this.paper)}, ${high})`;
    this.scale.replaceChildren(number(-limit, 2), ramp, number(limit, 2));
    return canvas;
  }

  cell(event) {
    const [x, y] = spotOf(event, this.picture);
    const column = Math.floor((x - FIELD.left) / this.cellSize[0]);
    const row = Math.floor((y - FIELD.top) / this.cellSize[1]);
    return row >= 0 && row < this.rows && column >= 0 && column < this.cols ? [row, column] : null;
  }

  look(cell) {
    this.hover = cell;
    this.paint();
  }

  settle(cell) {
    if (!cell) return;
    this.place = cell;
    this.send("place", cell);
    this.paint();
  }

  key(event) {
    const way = ARROWS[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    this.hover = null;
    this.settle([
      Math.max(0, Math.min(this.rows - 1, this.place[0] + way[0])),
      Math.max(0, Math.min(this.cols - 1, this.place[1] + way[1])),
    ]);
  }

  draw() {
    const { data } = this;
    const [row, column] = this.hover ?? this.place;
    const [w, h] = this.cellSize;
    const pen = fit(this.picture, this.width, this.height);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.image, FIELD.left, FIELD.top, w * this.cols, h * this.rows);
    pen.font = this.font;
    pen.fillStyle = this.muted;
    pen.textBaseline = "top";
    pen.textAlign = "right";
    pen.fillText(`${data.words.column} →`, this.width - FIELD.right, 0);
    upright(pen, `← ${data.words.position}`, 4, FIELD.top);
    pen.font = this.mono;
    pen.textBaseline = "middle";
    const every = [1, 2, 5, 10, 20, 50, 100].find((n) => n * h >= 22) ?? 200;
    for (let i = 0; i < this.rows; i += every) pen.fillText(i, FIELD.left - 5, FIELD.top + (i + 0.5) * h);
    pen.strokeStyle = this.ink;
    pen.lineWidth = 1;
    pen.strokeRect(FIELD.left + column * w - 0.5, FIELD.top - 0.5, w + 1, h * this.rows + 1);
    pen.strokeRect(FIELD.left - 0.5, FIELD.top + row * h - 0.5, w * this.cols + 1, h + 1);
    pen.strokeStyle = this.accent;
    pen.lineWidth = 2;
    pen.strokeRect(FIELD.left + column * w - 1.5, FIELD.top + row * h - 1.5, w + 3, h + 3);
    const value = data.table[row * this.cols + column];
    this.reading.textContent = this.arithmetic(row, column, number(value, 4));
    const down = Array.from({ length: this.rows }, (_, i) => data.table[i * this.cols + column]);
    const alike = Array.from(data.similarity.subarray(row * this.rows, (row + 1) * this.rows));
    const title = (text) => text.replace("{row}", row).replace("{column}", column);
    this.curves[0].title.textContent = title(data.words.curve);
    this.curves[1].title.textContent = title(data.words.alike);
    this.curve(this.curves[0].canvas, down, row, 0, data.words.position);
    this.curve(this.curves[1].canvas, alike, row, row, data.words.distance);
  }

  // The cell in words: how its number was computed, where a formula gave it.
  arithmetic(row, column, value) {
    const { words, wave } = this.data;
    if (!wave) return sentence(words.cell, { row, column, value });
    const [kind, base] = wave;
    const half = this.cols / 2;
    const twice = kind === "rotary" ? 2 * (column % half) : column - (column % 2);
    const cosine = kind === "rotary" ? column < half : column % 2 === 1;
    const scale = base ** (twice / this.cols);
    return sentence(words.wave, {
      row,
      column,
      value,
      twice,
      width: this.cols,
      base: base.toLocaleString("en"),
      wave: cosine ? "cos" : "sin",
      scale: number(scale, 4),
      angle: number(row / scale, 4),
    });
  }

  // Values over positions, or over distances from `zero`; `at` is marked.
  curve(canvas, values, at, zero, axis) {
    const range = [Math.min(0, ...values), Math.max(0, ...values)];
    const plot = plotIn([this.side, FIELD.curve], CURVE, [0, Math.max(1, values.length - 1)], range);
    const { width, height, x, y } = plot;
    const pen = fit(canvas, width, height);
    const levels = [...new Set([range[0], 0, range[1]])];
    frame(pen, styles(this.root), plot, { y: { marks: levels.map((v) => [v, number(v, 2)]), grid: "hair" } }, LOOK);
    pen.font = this.mono;
    pen.fillStyle = this.muted;
    pen.textBaseline = "top";
    const marks = new Set([0, values.length - 1, at]);
    for (const i of marks) {
      if (i !== at && Math.abs(x(i) - x(at)) < 30) continue;
      pen.textAlign = i === 0 ? "left" : i === values.length - 1 ? "right" : "center";
      const text = zero || axis === this.data.words.distance ? signedWhole(i - zero) : `${i}`;
      pen.fillText(text, x(i), height - 30);
    }
    pen.textAlign = "right";
    pen.font = this.font;
    pen.fillText(axis, width - 10, height - 14);
    pen.lineJoin = "round";
    line(pen, plot, null, values, { color: rgbText(this.poles[1]), width: 1.6 });
    pen.fillStyle = this.accent;
    dot(pen, [x(at), y(values[at])], 4);
  }
}

function signedWhole(n) {
  return n > 0 ? `+${n}` : `${n}`.replace("-", "−");
}
