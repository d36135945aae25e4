// A table that is learned step by step, beside the one that it should become, and its loss.

import { GRID, dot, frame, line, plotIn, pointer, segment, ticks } from "../_shared/chart.js";
import { el, fit, follow, live, mix, rgb, rgbText, sentence, styles } from "../_shared/common.js";
import { ARROWS } from "../_shared/keys.js";
import { chance, fixed, whole } from "../_shared/numbers.js";
import { makePlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new TableFilm(root, send));
}

const PACE = 16; // milliseconds a step: 200 of them take less than five seconds
const TALL = 210;
const SIDES = { left: 58, right: 16, top: 14, bottom: 40 };
const HEAD = 16;
const MOST = 15; // pixels of a cell's side
const FULL = 0.5; // a probability from which on the colour is as strong as it gets

class TableFilm {
  constructor(root, send) {
    this.root = root;
    this.cell = [0, 1];
    this.step = 0;
    this.player = makePlayer(root, {
      onStep: (step) => this.show(step),
      onCommit: (step) => send("step", step),
      pace: PACE,
    });
    this.told = el("p", "told num", null, { role: "status", "aria-live": "polite" });
    this.pair = el("div", "pair");
    this.tables = ["learned", "target"].map((name) => this.table(name));
    this.pointed = el("p", "pointed num", null, { "aria-live": "polite" });
    this.chart = el("canvas", "losses", null, { role: "img" });
    root.append(this.told, this.pair, this.pointed, this.chart);
  }

  table(name) {
    const box = el("div", "one");
    const title = el("div", "title");
    const canvas = el("canvas", null, null, { role: "application", tabindex: 0 });
    box.append(title, canvas);
    this.pair.append(box);
    pointer(
      canvas,
      (x, y) => this.hit(x, y),
      (cell) => cell && this.look(cell),
    );
    canvas.addEventListener("keydown", (event) => this.keys(event));
    return { name, title, canvas };
  }

  update(data, width) {
    this.data = data;
    const step = follow(this, "step", data.step, this.step);
    this.last = data.losses.length - 1;
    for (const table of this.tables) {
      table.title.textContent = data.words[table.name];
      table.canvas.setAttribute("aria-label", data.words[table.name]);
    }
    this.chart.setAttribute("aria-label", data.words.loss);
    this.layout(width);
    this.player.configure(this.last, Math.min(step, this.last), {});
    this.show(this.player.step);
  }

  layout(width) {
    const size = this.data.labels.length;
    const each = width < 640 ? width : (width - 24) / 2;
    this.side = Math.max(6, Math.min(MOST, Math.floor((each - HEAD - 2) / size)));
    this.width = width;
    const { losses, floor } = this.data;
    this.ys = [Math.min(floor, ...losses) - 0.03, Math.max(...losses)];
    this.plot = plotIn([Math.min(width, 860), TALL], SIDES, [0, this.last], this.ys);
    this.look(this.cell);
    this.show(this.step);
  }

  show(step) {
    this.step = step;
    if (!this.data || !this.plot) return;
    const { words, losses, floor } = this.data;
    this.told.textContent = sentence(words.line, {
      step: whole(step),
      loss: fixed(losses[step], 4),
      above: fixed(losses[step] - floor, 5),
    });
    const style = styles(this.root);
    const size = this.data.labels.length ** 2;
    this.paint(this.tables[0].canvas, this.data.tables.subarray(step * size, (step + 1) * size), style);
    this.paint(this.tables[1].canvas, this.data.target, style);
    this.drawLoss(style);
    this.tell();
  }

  paint(canvas, values, style) {
    const { labels } = this.data;
    const { side } = this;
    const size = labels.length;
    const all = HEAD + size * side + 1;
    const pen = fit(canvas, all, all);
    const [paper, ink] = [rgb(style("--st-background-color") || style("--lv-surface")), rgb(style("--lv-weights"))];
    const gap = side > 8 ? 1 : 0;
    for (let i = 0; i < size; i++)
      for (let j = 0; j < size; j++) {
        pen.fillStyle = rgbText(mix(paper, ink, 0.04 + (0.96 * Math.min(values[i * size + j], FULL)) / FULL));
        pen.fillRect(HEAD + j * side, HEAD + i * side, side - gap, side - gap);
      }
    pen.font = `${Math.min(11, side + 1)}px ${style("--mono") || "monospace"}`;
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    labels.forEach((label, k) => {
      pen.fillStyle = style(k === this.cell[1] ? "--lv-ink" : "--lv-muted");
      pen.fillText(label, HEAD + (k + 0.5) * side, HEAD / 2);
      pen.fillStyle = style(k === this.cell[0] ? "--lv-ink" : "--lv-muted");
      pen.fillText(label, HEAD / 2, HEAD + (k + 0.5) * side);
    });
    pen.strokeStyle = style("--lv-ink");
    pen.lineWidth = 1.5;
    pen.strokeRect(HEAD + this.cell[1] * side, HEAD + this.cell[0] * side, side, side);
  }

  drawLoss(style) {
    const { plot } = this;
    const { losses, floor, words } = this.data;
    const pen = fit(this.chart, plot.width, TALL);
    frame(
      pen,
      style,
      plot,
      {
        x: { marks: ticks([0, this.last], 5).map((value) => [value, whole(value)]), title: words.steps },
        y: { marks: ticks(this.ys, 4).map((value) => [value, fixed(value, 1)]), grid: "hair", title: words.loss },
      },
      GRID,
    );
    pen.strokeStyle = style("--lv-value");
    pen.setLineDash([5, 4]);
    segment(pen, plot.left, plot.y(floor), plot.right, plot.y(floor));
    pen.setLineDash([]);
    line(pen, plot, null, losses, { color: style("--lv-loss"), width: 2, end: this.step + 1 });
    pen.fillStyle = style("--lv-loss");
    dot(pen, plot.at(this.step, losses[this.step]), 4);
  }

  hit(x, y) {
    const size = this.data.labels.length;
    const [j, i] = [Math.floor((x - HEAD) / this.side), Math.floor((y - HEAD) / this.side)];
    return i >= 0 && j >= 0 && i < size && j < size ? [i, j] : null;
  }

  look(cell) {
    const moved = cell[0] !== this.cell[0] || cell[1] !== this.cell[1];
    this.cell = cell;
    if (moved) this.show(this.step);
  }

  tell() {
    const { labels, words, tables, target } = this.data;
    const [i, j] = this.cell;
    const at = i * labels.length + j;
    const learned = chance(tables[this.step * labels.length ** 2 + at]);
    this.pointed.textContent = sentence(words.cell, { row: labels[i], column: labels[j], learned, target: chance(target[at]) });
  }

  keys(event) {
    const by = ARROWS[event.key];
    if (!by) return;
    const last = this.data.labels.length - 1;
    this.look(this.cell.map((at, axis) => Math.max(0, Math.min(last, at + by[axis]))));
    event.preventDefault();
    event.stopPropagation();
  }

  destroy() {
    this.player.stop();
  }
}
