// The picture of runs over one axis: loss above, learning rate and gradient norm below.

import { GRID, before, dot, font, frame, inside, line, scale, segment, ticks } from "../_shared/chart.js";
import { css, fit, styles } from "../_shared/common.js";
import { number, short } from "../_shared/numbers.js";
import { CurvePlane, GAP, LEFT, RIGHT, SMALL } from "./plane.js";

const DOTS = 260; // so few visible points get a dot each
const LOOK = { ...GRID, face: "--mono", tick: 12, beside: 7 };
const BELOW = { ...LOOK, baseline: "top", below: 7, stub: 4, edge: 22 };

export class CurvePicture extends CurvePlane {
  paint() {
    if (!this.data) return;
    const began = performance.now();
    this.range = this.extent();
    this.all.disabled = !this.zoom;
    const pen = fit(this.base, this.width, this.height);
    fit(this.over, this.width, this.height);
    this.style = styles(this.root);
    this.x = scale(this.range, [LEFT, this.width - RIGHT], this.view.logx);
    const { axes } = this.data;
    const loss = this.panel(axes.y[this.view.unit], 22, this.tall - 22, this.spanLoss(), this.view.logy);
    const lr = this.panel(axes.lr, this.tall + GAP, SMALL, this.span("lr"));
    const grad = this.panel(axes.grad, this.tall + 2 * GAP + SMALL, SMALL, this.span("grad"));
    this.panels = [loss, lr, grad];
    for (const panel of this.panels) this.frame(pen, panel);
    this.bottom(pen, grad);
    this.references(pen, loss, false);
    // The first run is drawn last: where a fork is still its parent, the parent is seen.
    const order = this.drawn().reverse();
    for (const run of order) this.lossOf(pen, loss, run);
    this.references(pen, loss, true);
    for (const run of order) {
      this.stroke(pen, lr, run, run.x, run.lr, 1.5, 1);
      this.stroke(pen, grad, run, run.x, run.grad, 1, 0.8);
    }
    this.cursor();
    this.root.dataset.ms = (performance.now() - began).toFixed(1);
    this.root.dataset.y = loss.title;
    this.root.dataset.zoom = this.zoom ? this.zoom.map((v) => v.toPrecision(6)).join(" ") : "";
  }

  // A plot of one quantity; all of them share the axis across.
  panel(title, top, height, range, log = false) {
    const bottom = top + height;
    const y = scale(range, [bottom, top], log);
    return { title, range, log, left: LEFT, right: this.width - RIGHT, top, bottom, height, width: this.width, x: this.x, y };
  }

  frame(pen, panel) {
    const values = ticks(panel.range, panel.height < 100 ? 2 : 6, panel.log);
    frame(pen, this.style, panel, { y: { marks: values.map((value) => [value, short(value)]), grid: "hair" } }, LOOK);
    pen.strokeStyle = this.style("--lv-line");
    segment(pen, LEFT + 0.5, panel.top, LEFT + 0.5, panel.bottom);
    pen.font = this.titleFont();
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillStyle = this.style("--lv-ink");
    pen.fillText(panel.title, LEFT + 4, panel.top - 7);
    panel.titleEnd = LEFT + 4 + pen.measureText(panel.title).width;
  }

  titleFont() {
    return `600 12.5px ${this.style("font-family") || "sans-serif"}`;
  }

  bottom(pen, panel) {
    pen.strokeStyle = this.style("--lv-line");
    segment(pen, LEFT, panel.bottom + 0.5, panel.right, panel.bottom + 0.5);
    const values = ticks(this.range, Math.max(3, Math.floor(this.width / 120)), this.view.logx);
    frame(pen, this.style, panel, { x: { marks: values.map((value) => [value, short(value)]) } }, BELOW);
    pen.font = this.titleFont();
    pen.fillStyle = this.style("--lv-ink");
    pen.fillText(this.data.axes.x[this.view.axis], (LEFT + panel.right) / 2, panel.bottom + 24);
  }

  // The lines lie under the curves, their names over them.
  references(pen, panel, names) {
    const [low, high] = panel.range;
    const visible = this.lines.filter((line) => line.value >= low && line.value <= high);
    visible.sort((a, b) => b.value - a.value);
    if (names) return this.named(pen, panel, visible);
    for (const line of visible) {
      const at = Math.round(panel.y(line.value)) + 0.5;
      pen.strokeStyle = line.floor ? this.style("--lv-ink") : this.style("--lv-muted");
      pen.setLineDash(line.floor ? [] : [4, 4]);
      pen.lineWidth = line.floor ? 1.4 : 1;
      segment(pen, LEFT, at, panel.right, at);
      pen.setLineDash([]);
    }
  }

  // Names of lines that lie close make room for each other, and stay inside the panel.
  named(pen, panel, lines) {
    pen.font = font(this.style, 12, "--mono");
    pen.textAlign = "right";
    pen.textBaseline = "bottom";
    const right = this.width - RIGHT - 3;
    const texts = lines.map((line) => `${line.label} ${number(line.value, 2)}`);
    const sizes = texts.map((text) => pen.measureText(text).width);
    const bases = [];
    lines.forEach((line, i) => {
      const at = Math.round(panel.y(line.value)) + 0.5;
      const meets = at - 15 < panel.top && right - 3 - sizes[i] < panel.titleEnd;
      bases.push(Math.max(meets ? at + 16 : at - 2, i ? bases[i - 1] + 14 : -Infinity));
    });
    let below = panel.bottom + 12;
    for (let i = lines.length - 1; i >= 0; i--) below = bases[i] = Math.min(bases[i], below - 14);
    lines.forEach((line, i) => {
      pen.fillStyle = this.paper();
      pen.globalAlpha = 0.8;
      pen.fillRect(right - 3 - sizes[i], bases[i] - 13, sizes[i] + 6, 13);
      pen.globalAlpha = 1;
      pen.fillStyle = line.floor ? this.style("--lv-ink") : this.style("--lv-muted");
      pen.fillText(texts[i], right, bases[i]);
    });
  }

  lossOf(pen, panel, run) {
    const smoothed = run.s.length > 0;
    this.stroke(pen, panel, run, run.x, run.y, 1, smoothed ? 0.32 : 0.75);
    const [first, end] = this.visible(run);
    if (end - first <= DOTS) this.dots(pen, panel, run, run.x, run.y, first, end, 1.7, smoothed ? 0.5 : 0.9);
    if (smoothed) this.stroke(pen, panel, run, run.x, run.s, 1.7, 1);
    if (!run.vx.length) return;
    this.stroke(pen, panel, run, run.vx, run.vy, 2.2, 1);
    this.rings(pen, panel, run);
  }

  paper() {
    return this.style("--st-background-color") || this.style("--lv-surface");
  }

  clipped(pen, panel, draw) {
    inside(pen, [LEFT, panel.top - 4, panel.right - LEFT + 4, panel.height + 8], draw);
  }

  stroke(pen, panel, run, xs, ys, width, alpha) {
    let [first, end] = this.visible(run, xs);
    // Nothing before the first step has a place on a logarithmic axis.
    while (this.view.logx && first < end && xs[first] <= 0) first++;
    this.clipped(pen, panel, () => {
      pen.globalAlpha = alpha;
      pen.lineJoin = "round";
      line(pen, panel, xs, ys, { color: this.colour(run), width, dash: this.dash(run), first, end });
    });
  }

  dots(pen, panel, run, xs, ys, first, end, size, alpha) {
    this.clipped(pen, panel, () => {
      pen.fillStyle = this.colour(run);
      pen.globalAlpha = alpha;
      pen.beginPath();
      for (let i = first; i < end; i++) {
        const [x, y] = [this.x(xs[i]), panel.y(ys[i])];
        pen.moveTo(x + size, y);
        pen.arc(x, y, size, 0, 7);
      }
      pen.fill();
    });
  }

  rings(pen, panel, run) {
    const [first, end] = this.visible(run, run.vx);
    if (end - first > 120) return;
    this.clipped(pen, panel, () => {
      pen.strokeStyle = this.colour(run);
      pen.fillStyle = this.paper();
      pen.lineWidth = 1.8;
      for (let i = first; i < end; i++) {
        dot(pen, [this.x(run.vx[i]), panel.y(run.vy[i])], 3.4);
        pen.stroke();
      }
    });
  }

  // ---- what follows the cursor

  cursor() {
    if (!this.data || !this.range) return;
    const pen = this.over.getContext("2d");
    pen.clearRect(0, 0, this.width, this.height);
    const main = this.data.runs[this.data.main];
    const hovering = this.hover !== null && this.hover !== undefined && this.hover >= LEFT && this.hover <= this.width - RIGHT;
    const at = main.x[Math.min(this.player.step, main.x.length - 1)];
    const x = hovering ? this.x.value(this.hover) : at;
    const end = this.panels[2].bottom;
    if (at !== undefined) this.rule(pen, this.x(at), end, hovering ? 0.35 : 0.9);
    if (hovering) this.rule(pen, this.hover, end, 0.9);
    if (this.brush && Math.abs(this.brush[1] - this.brush[0]) > 3) {
      pen.fillStyle = css(this.root, "--lv-accent");
      pen.globalAlpha = 0.18;
      pen.fillRect(Math.min(...this.brush), 18, Math.abs(this.brush[1] - this.brush[0]), end - 18);
      pen.globalAlpha = 1;
    }
    if (x === undefined) return;
    const drawn = new Set(this.drawn());
    this.data.runs.forEach((run, r) => {
      const i = before(run.x, x);
      const v = before(run.vx, x);
      this.row(r, run, i, v);
      if (i < 0 || !drawn.has(run)) return;
      this.spot(pen, this.panels[0], run, run.x[i], run.s.length ? run.s[i] : run.y[i]);
      this.spot(pen, this.panels[1], run, run.x[i], run.lr[i]);
      this.spot(pen, this.panels[2], run, run.x[i], run.grad[i]);
    });
    this.write(main, before(main.x, x));
  }

  rule(pen, at, end, alpha) {
    if (at < LEFT - 1 || at > this.width - RIGHT + 1) return;
    pen.strokeStyle = css(this.root, "--lv-accent-text");
    pen.globalAlpha = alpha;
    pen.lineWidth = 1.2;
    segment(pen, Math.round(at) + 0.5, 18, Math.round(at) + 0.5, end);
    pen.globalAlpha = 1;
  }

  spot(pen, panel, run, x, y) {
    const at = this.x(x);
    if (!Number.isFinite(y) || at < LEFT - 1 || at > this.width - RIGHT + 1) return;
    pen.fillStyle = this.colour(run);
    dot(pen, [at, Math.max(panel.top, Math.min(panel.bottom, panel.y(y)))], 3.6);
  }
}
