// The picture of runs over one axis: loss above, learning rate and gradient norm below.

import { before, segment, short, ticks } from "../_shared/axes.js";
import { css, fit, number } from "../_shared/common.js";
import { CurvePlane, GAP, LEFT, RIGHT, SMALL } from "./plane.js";

const DOTS = 260; // so few visible points get a dot each

export class CurvePicture extends CurvePlane {
  paint() {
    if (!this.data) return;
    const began = performance.now();
    this.range = this.extent();
    this.all.disabled = !this.zoom;
    const pen = fit(this.base, this.width, this.height);
    fit(this.over, this.width, this.height);
    this.ink = {
      muted: css(this.root, "--lv-muted"),
      hair: css(this.root, "--lv-hair"),
      line: css(this.root, "--lv-line"),
      ink: css(this.root, "--lv-ink"),
      paper: css(this.root, "--st-background-color") || css(this.root, "--lv-surface"),
    };
    this.font = css(this.root, "--mono") || "monospace";
    const { axes } = this.data;
    const loss = { top: 22, height: this.tall - 22, log: this.view.logy, title: axes.y[this.view.unit], y: this.spanLoss() };
    const lr = { top: this.tall + GAP, height: SMALL, log: false, title: axes.lr, y: this.span("lr") };
    const grad = { top: this.tall + 2 * GAP + SMALL, height: SMALL, log: false, title: axes.grad, y: this.span("grad") };
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

  frame(pen, panel) {
    pen.font = `12px ${this.font}`;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const few = panel.height < 100;
    for (const tick of ticks(panel.y, few ? 2 : 6, panel.log)) {
      const at = Math.round(this.y(panel, tick)) + 0.5;
      pen.strokeStyle = this.ink.hair;
      segment(pen, LEFT, at, this.width - RIGHT, at);
      pen.fillStyle = this.ink.muted;
      pen.fillText(short(tick), LEFT - 7, at);
    }
    pen.strokeStyle = this.ink.line;
    segment(pen, LEFT + 0.5, panel.top, LEFT + 0.5, panel.top + panel.height);
    pen.font = `600 12.5px ${css(this.root, "font-family") || "sans-serif"}`;
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillStyle = this.ink.ink;
    pen.fillText(panel.title, LEFT + 4, panel.top - 7);
    panel.titleEnd = LEFT + 4 + pen.measureText(panel.title).width;
  }

  bottom(pen, panel) {
    const end = panel.top + panel.height;
    pen.strokeStyle = this.ink.line;
    segment(pen, LEFT, end + 0.5, this.width - RIGHT, end + 0.5);
    pen.font = `12px ${this.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.fillStyle = this.ink.muted;
    const places = Math.max(3, Math.floor(this.width / 120));
    for (const tick of ticks(this.range, places, this.view.logx)) {
      const at = this.place(tick);
      if (at < LEFT - 1 || at > this.width - RIGHT + 1) continue;
      segment(pen, at, end, at, end + 4);
      pen.fillText(short(tick), Math.min(this.width - 22, at), end + 7);
    }
    pen.font = `600 12.5px ${css(this.root, "font-family") || "sans-serif"}`;
    pen.fillStyle = this.ink.ink;
    pen.fillText(this.data.axes.x[this.view.axis], (LEFT + this.width - RIGHT) / 2, end + 24);
  }

  // The lines lie under the curves, their names over them.
  references(pen, panel, names) {
    const [low, high] = panel.y;
    const shown = this.lines.filter((line) => line.value >= low && line.value <= high);
    shown.sort((a, b) => b.value - a.value);
    if (names) return this.named(pen, panel, shown);
    for (const line of shown) {
      const at = Math.round(this.y(panel, line.value)) + 0.5;
      pen.strokeStyle = line.floor ? this.ink.ink : this.ink.muted;
      pen.setLineDash(line.floor ? [] : [4, 4]);
      pen.lineWidth = line.floor ? 1.4 : 1;
      segment(pen, LEFT, at, this.width - RIGHT, at);
      pen.setLineDash([]);
    }
  }

  // Names of lines that lie close make room for each other, and stay inside the panel.
  named(pen, panel, lines) {
    pen.font = `12px ${this.font}`;
    pen.textAlign = "right";
    pen.textBaseline = "bottom";
    const right = this.width - RIGHT - 3;
    const texts = lines.map((line) => `${line.label} ${number(line.value, 2)}`);
    const sizes = texts.map((text) => pen.measureText(text).width);
    const bases = [];
    lines.forEach((line, i) => {
      const at = Math.round(this.y(panel, line.value)) + 0.5;
      const meets = at - 15 < panel.top && right - 3 - sizes[i] < panel.titleEnd;
      bases.push(Math.max(meets ? at + 16 : at - 2, i ? bases[i - 1] + 14 : -Infinity));
    });
    let below = panel.top + panel.height + 12;
    for (let i = lines.length - 1; i >= 0; i--) below = bases[i] = Math.min(bases[i], below - 14);
    lines.forEach((line, i) => {
      pen.fillStyle = this.ink.paper;
      pen.globalAlpha = 0.8;
      pen.fillRect(right - 3 - sizes[i], bases[i] - 13, sizes[i] + 6, 13);
      pen.globalAlpha = 1;
      pen.fillStyle = line.floor ? this.ink.ink : this.ink.muted;
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

  clipped(pen, panel, draw) {
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, panel.top - 4, this.width - LEFT - RIGHT + 4, panel.height + 8);
    pen.clip();
    draw();
    pen.restore();
  }

  stroke(pen, panel, run, xs, ys, width, alpha) {
    const [first, end] = this.visible(run, xs);
    this.clipped(pen, panel, () => {
      pen.strokeStyle = this.colour(run);
      pen.globalAlpha = alpha;
      pen.lineWidth = width;
      pen.lineJoin = "round";
      pen.setLineDash(this.dash(run));
      pen.beginPath();
      let down = false;
      for (let i = first; i < end; i++) {
        if (!Number.isFinite(ys[i]) || (this.view.logx && xs[i] <= 0)) continue;
        const [x, y] = [this.place(xs[i]), this.y(panel, ys[i])];
        if (down) pen.lineTo(x, y);
        else pen.moveTo(x, y);
        down = true;
      }
      pen.stroke();
    });
  }

  dots(pen, panel, run, xs, ys, first, end, size, alpha) {
    this.clipped(pen, panel, () => {
      pen.fillStyle = this.colour(run);
      pen.globalAlpha = alpha;
      pen.beginPath();
      for (let i = first; i < end; i++) {
        const [x, y] = [this.place(xs[i]), this.y(panel, ys[i])];
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
      pen.fillStyle = this.ink.paper;
      pen.lineWidth = 1.8;
      for (let i = first; i < end; i++) {
        pen.beginPath();
        pen.arc(this.place(run.vx[i]), this.y(panel, run.vy[i]), 3.4, 0, 7);
        pen.fill();
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
    const x = hovering ? this.value(this.hover) : at;
    const end = this.panels[2].top + SMALL;
    if (at !== undefined) this.rule(pen, this.place(at), end, hovering ? 0.35 : 0.9);
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
    const at = this.place(x);
    if (!Number.isFinite(y) || at < LEFT - 1 || at > this.width - RIGHT + 1) return;
    pen.fillStyle = this.colour(run);
    pen.beginPath();
    pen.arc(at, Math.max(panel.top, Math.min(panel.top + panel.height, this.y(panel, y))), 3.6, 0, 7);
    pen.fill();
  }
}
