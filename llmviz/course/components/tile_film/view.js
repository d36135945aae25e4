// Attention in tiles: the tile at work on the matrix, the statistics of its rows, the output so far.

import { css, el, fit, follow, live, mix, remember, remembered, rgb, rgbText, spotOf, styles } from "../_shared/common.js";
import { number, whole } from "../_shared/numbers.js";
import { shorten } from "../_shared/chart.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new TileFilm(root, send));
}

const SIZE = { gutter: 78, head: 74, most: 30, least: 11, gap: 22, values: 420 };
const FADED = 0.28;
const COLUMNS = ["maximum_before", "maximum", "factor", "sum_before", "sum"];

class TileFilm {
  constructor(root, send) {
    this.root = root;
    this.player = stepPlayer(root, send, () => this.paint(), 1100);
    this.caption = el("p", "tiles-caption", null, { "aria-live": "polite" });
    this.frame = el("div", "tiles-frame");
    this.canvas = el("canvas", "tiles-picture", null, { role: "img" });
    this.frame.append(this.canvas);
    this.legend = el("p", "tiles-legend");
    this.traffic = el("p", "tiles-traffic num");
    this.table = el("table", "tiles-rows");
    const box = el("div", "tiles-frame");
    box.append(this.table);
    this.sums = el("div", "tiles-sums", null, { role: "status", "aria-live": "polite" });
    root.append(this.caption, this.frame, this.legend, this.traffic, box, this.sums);
    this.canvas.onclick = (event) => this.pickAt(spotOf(event, this.canvas)[1]);
  }

  update(data, width) {
    this.data = data;
    this.width = width;
    const { captions, words } = data;
    const last = captions.length - 1;
    const step = Math.max(0, Math.min(follow(this, "step", data.step, this.player.step), last));
    const keys = ["now", "done", "later", "masked", "skipped"].map((kind) => {
      const pair = el("span", "tiles-pair");
      pair.append(el("span", `tiles-key ${kind}`), el("span", null, words[kind]));
      return pair;
    });
    this.legend.replaceChildren(...keys, el("span", null, words.scale));
    const text = (at) => `${whole(at + 1)} / ${whole(this.player.last + 1)}`;
    this.player.stand(last, step, { label: (at) => this.data.captions[at], text, speeds: [1, 2, 4] });
    this.paint();
  }

  layout(width) {
    this.width = width;
    this.paint();
  }

  // The rows and columns of a tile: first row, end of the rows, first column, end of the columns.
  tile(step) {
    return this.data.tiles.subarray(4 * step, 4 * step + 4);
  }

  row(name, step, offset) {
    const values = this.data[name];
    return values[step * values.shape[1] + offset];
  }

  paint() {
    if (!this.data || this.player.step < 0) return;
    const step = this.player.step;
    const { captions, words, read, written } = this.data;
    this.caption.textContent = captions[step];
    this.traffic.textContent = words.traffic.replace("{read}", whole(read[step])).replace("{written}", whole(written[step]));
    this.draw(step);
    this.list(step);
  }

  // ---- the matrix and, beside it, the output: one line a token in both

  draw(step) {
    const { names, scores, words, captions, output } = this.data;
    const t = names.length;
    const style = styles(this.root);
    const room = this.width - SIZE.gutter - SIZE.gap - 4;
    const cell = Math.max(SIZE.least, Math.min(SIZE.most, Math.floor((room * 0.62) / t)));
    const right = SIZE.gutter + t * cell + SIZE.gap;
    const values = Math.max(48, Math.min(SIZE.values, this.width - right - 2));
    const [width, height] = [right + values, SIZE.head + t * cell + 2];
    const pen = fit(this.canvas, width, height);
    this.cell = cell;
    this.canvas.setAttribute("aria-label", captions[step]);
    pen.clearRect(0, 0, width, height);
    this.labels(pen, style, cell, right, step);
    const paper = rgb(css(this.root, "--st-background-color") || css(this.root, "--lv-surface"));
    const poles = ["neg", "pos"].map((end) => rgb(style(`--lv-weights-${end}`)));
    const limit = scores.reduce((most, score) => (Number.isFinite(score) ? Math.max(most, Math.abs(score)) : most), 0) || 1;
    const place = (row, column) => [SIZE.gutter + column * cell, SIZE.head + row * cell];
    for (let row = 0; row < t; row++) {
      for (let column = 0; column < t; column++) {
        pen.strokeStyle = style("--lv-hair");
        pen.lineWidth = 1;
        const [x, y] = place(row, column);
        pen.strokeRect(x + 0.5, y + 0.5, cell - 1, cell - 1);
        if (Number.isNaN(scores[row * t + column])) hatch(pen, style("--lv-line"), x, y, cell);
      }
    }
    for (let at = 0; at <= step; at++) {
      const [top, bottom, first, end] = this.tile(at);
      for (let row = top; row < bottom; row++) {
        for (let column = first; column < end; column++) {
          const score = scores[row * t + column];
          const [x, y] = place(row, column);
          const color = Number.isFinite(score) ? mix(paper, poles[score < 0 ? 0 : 1], Math.abs(score) / limit) : rgb(style("--lv-line"));
          pen.fillStyle = rgbText(at === step ? color : mix(paper, color, FADED));
          pen.fillRect(x + 1, y + 1, cell - 2, cell - 2);
        }
      }
    }
    const [top, bottom, first, end] = this.tile(step);
    pen.strokeStyle = style("--lv-ink");
    pen.lineWidth = 2;
    pen.strokeRect(...place(top, first), (end - first) * cell, (bottom - top) * cell);
    this.outputs(pen, style, paper, right, values, step, output);
    pen.fillStyle = style("--lv-muted");
    pen.font = `11px ${style("--st-font") || "sans-serif"}`;
    pen.textAlign = "left";
    pen.fillText(words.output, right, SIZE.head - 7);
  }

  labels(pen, style, cell, right, step) {
    const { names } = this.data;
    const [top, bottom, first, end] = this.tile(step);
    const face = style("--mono") || "monospace";
    pen.textBaseline = "middle";
    names.forEach((name, i) => {
      const middle = i * cell + cell / 2;
      const inside = (from, to) => (i >= from && i < to ? "--lv-ink" : "--lv-muted");
      pen.font = `${Math.min(12, cell)}px ${face}`;
      pen.textAlign = "right";
      pen.fillStyle = style(inside(top, bottom));
      pen.fillText(shorten(pen, name, SIZE.gutter - 8), SIZE.gutter - 6, SIZE.head + middle);
      pen.save();
      pen.translate(SIZE.gutter + middle, SIZE.head - 6);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "left";
      pen.fillStyle = style(inside(first, end));
      pen.fillText(shorten(pen, name, SIZE.head - 8), 0, 0);
      pen.restore();
    });
    pen.textBaseline = "alphabetic";
  }

  // Of each row its last output up to this tile.
  outputs(pen, style, paper, right, width, step, output) {
    const [, side, count] = output.shape;
    const newest = new Map();
    for (let at = 0; at <= step; at++) {
      const [top, bottom] = this.tile(at);
      for (let row = top; row < bottom; row++) newest.set(row, (at * side + row - top) * count);
    }
    // Of each column its largest number: a few columns are often far larger than all others.
    const limits = new Float32Array(count);
    output.forEach((value, i) => {
      limits[i % count] = Math.max(limits[i % count], Math.abs(value));
    });
    const poles = ["neg", "pos"].map((end) => rgb(style(`--lv-value-${end}`)));
    const [top, bottom] = this.tile(step);
    for (let row = 0; row < this.data.names.length; row++) {
      const y = SIZE.head + row * this.cell;
      const start = newest.get(row);
      for (let i = 0; start !== undefined && i < count; i++) {
        const value = output[start + i];
        const from = Math.round((i * width) / count);
        pen.fillStyle = rgbText(mix(paper, poles[value < 0 ? 0 : 1], Math.abs(value) / (limits[i] || 1)));
        pen.fillRect(right + from, y + 1, Math.round(((i + 1) * width) / count) - from, this.cell - 2);
      }
      pen.strokeStyle = style("--lv-hair");
      pen.lineWidth = 1;
      pen.strokeRect(right + 0.5, y + 0.5, width - 1, this.cell - 1);
    }
    pen.strokeStyle = style("--lv-ink");
    pen.lineWidth = 2;
    pen.strokeRect(right, SIZE.head + top * this.cell, width - 1, (bottom - top) * this.cell);
  }

  // ---- the statistics of the tile's rows

  list(step) {
    const { names, words } = this.data;
    const [top, bottom] = this.tile(step);
    const open = this.open(step);
    const head = el("tr");
    head.append(...["row", ...COLUMNS].map((name) => el("th", null, words[name], { scope: "col" })));
    const lines = Array.from({ length: bottom - top }, (_, offset) => {
      const line = el("tr", offset === open ? "open" : "");
      const name = el("th", null, null, { scope: "row" });
      const button = el("button", "tiles-row", names[top + offset], { type: "button", "aria-pressed": offset === open });
      button.onclick = () => this.pick(offset);
      name.append(button);
      const values = ["maximum_before", "maximum", "rescale", "total_before", "total"];
      line.append(name, ...values.map((value) => el("td", "num", number(this.row(value, step, offset), 3))));
      return line;
    });
    const focused = this.table.contains(this.table.getRootNode().activeElement);
    this.table.replaceChildren(head, ...lines);
    if (focused) this.table.querySelector("tr.open button")?.focus({ preventScroll: true });
    this.sums.replaceChildren(...this.arithmetic(step, open));
  }

  // The row that is open: the picked one, else the one whose sums shrink most, else the last one.
  open(step) {
    const [top, bottom] = this.tile(step);
    const rows = bottom - top;
    const picked = remembered(this.root, "row"); // counted from the first one of the tile
    if (picked !== null) return Math.min(picked, rows - 1);
    let [best, least] = [rows - 1, 1];
    for (let offset = 0; offset < rows; offset++) {
      const factor = this.row("rescale", step, offset);
      if (this.row("total_before", step, offset) > 0 && factor < least) [best, least] = [offset, factor];
    }
    return best;
  }

  arithmetic(step, offset) {
    const { names, scores, exponentials, words } = this.data;
    const t = names.length;
    const [top, , first, end] = this.tile(step);
    const row = (top + offset) * t;
    const value = (name) => this.row(name, step, offset);
    const title = el("p", "tiles-title", names[top + offset]);
    if (value("maximum") === -Infinity) return [title, el("p", "muted", words.blind)];
    const text = (x) => number(x, 3);
    const minus = (x) => (x < 0 ? `(${text(x)})` : text(x));
    const own = Array.from(scores.subarray(row + first, row + end));
    const powers = Array.from(exponentials.subarray(row + first, row + end));
    const [before, now] = [value("maximum_before"), value("maximum")];
    const line = (name, sum) => {
      const node = el("p", "num");
      node.append(el("span", "muted", `${name} = `), el("span", null, sum));
      return node;
    };
    const kept = value("rescale") * value("total_before");
    return [
      title,
      line(words.maximum, `max(${[before, ...own].map(text).join(", ")}) = ${text(now)}`),
      line(words.factor, `e^(${text(before)} − ${minus(now)}) = ${text(value("rescale"))}`),
      line(
        words.sum,
        `${text(value("rescale"))} × ${text(value("total_before"))} + ${own.map((x) => `e^(${text(x)} − ${minus(now)})`).join(" + ")} = ` +
          `${[kept, ...powers].map(text).join(" + ")} = ${text(value("total"))}`,
      ),
    ];
  }

  pick(offset) {
    remember(this.root, "row", offset);
    this.list(this.player.step);
  }

  pickAt(y) {
    const [top, bottom] = this.tile(this.player.step);
    const row = Math.floor((y - SIZE.head) / this.cell);
    if (row >= top && row < bottom) this.pick(row - top);
  }

  destroy() {
    this.player.stop();
  }
}

function hatch(pen, color, x, y, size) {
  pen.strokeStyle = color;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x + 2, y + size - 2);
  pen.lineTo(x + size - 2, y + 2);
  pen.stroke();
}
