// The curve of a loss over one weight, with the ball on it and the slope that it follows.

import { css, el, fit, number } from "../_shared/common.js";
import { clip, dot } from "./map_stage.js";
import { stepsAt } from "./walks.js";

const CURVE_TALL = 340;

export class CurveStage {
  constructor(root) {
    this.root = root;
    this.canvas = el("canvas", "curve");
    root.appendChild(this.canvas);
  }

  update(data) {
    this.data = data;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", data.words.map);
  }

  layout(width) {
    this.width = Math.round(width);
    const { x, y } = this.data.stage;
    this.box = [x[0], x[x.length - 1], 0, Math.max(...y)];
    this.ink = css(this.root, "--lv-ink");
    this.muted = css(this.root, "--lv-muted");
    this.line = css(this.root, "--lv-line");
    this.paper = css(this.root, "--st-background-color");
  }

  at(x, y) {
    const [a, b, c, d] = this.box;
    return [46 + ((x - a) / (b - a)) * (this.width - 62), CURVE_TALL - 40 - ((y - c) / (d - c)) * (CURVE_TALL - 60)];
  }

  paint(stops, place) {
    const pen = fit(this.canvas, this.width, CURVE_TALL);
    const { stage, walkers, words } = this.data;
    this.axes(pen);
    pen.lineJoin = "round";
    pen.strokeStyle = css(this.root, "--lv-neutral-pos");
    pen.lineWidth = 2.5;
    pen.beginPath();
    stage.x.forEach((x, i) => pen[i ? "lineTo" : "moveTo"](...this.at(x, stage.y[i])));
    pen.stroke();
    const walker = walkers[0];
    const stop = stops[0];
    const n = walker.path.shape[1];
    const k = Math.min(stepsAt(walker, place), walker.lasted[stop]);
    const point = (s) => clip(this.at(walker.path[stop * n + s], walker.losses[stop * n + s]), this.width, CURVE_TALL);
    pen.save();
    pen.beginPath();
    pen.rect(46, 0, this.width - 62, CURVE_TALL - 40);
    pen.clip();
    const color = css(this.root, `--lv-${walker.role}`);
    this.tangent(pen, walker, stop, k);
    for (let s = 0; s < k; s++) {
      pen.strokeStyle = color;
      pen.globalAlpha = 0.35 + 0.65 * ((s + 1) / k);
      pen.lineWidth = 1.6;
      pen.beginPath();
      pen.moveTo(...point(s));
      pen.lineTo(...point(s + 1));
      pen.stroke();
      pen.fillStyle = color;
      dot(pen, point(s), 3.2);
    }
    pen.globalAlpha = 1;
    pen.restore();
    const [x, y] = point(k);
    const inside = y > 4 && x > 40 && x < this.width - 8;
    pen.fillStyle = color;
    pen.strokeStyle = this.paper;
    pen.lineWidth = 2.5;
    dot(pen, [Math.max(46, Math.min(this.width - 12, x)), Math.max(10, y)], 8.5);
    pen.stroke();
    if (!inside) {
      pen.fillStyle = this.muted;
      pen.font = this.small;
      pen.textAlign = x > this.width / 2 ? "right" : "left";
      pen.fillText(words.outside, x > this.width / 2 ? this.width - 26 : 62, 14);
    }
  }

  // The slope that the next step follows.
  tangent(pen, walker, stop, k) {
    const n = walker.path.shape[1];
    const slopes = walker.shown.gradient;
    if (!slopes || k >= n - 1) return;
    const w = walker.path[stop * n + k];
    const loss = walker.losses[stop * n + k];
    const slope = slopes[stop * (n - 1) + k];
    const reach = (this.box[1] - this.box[0]) / 7;
    pen.strokeStyle = this.ink;
    pen.setLineDash([5, 4]);
    pen.lineWidth = 1.3;
    pen.beginPath();
    pen.moveTo(...this.at(w - reach, loss - slope * reach));
    pen.lineTo(...this.at(w + reach, loss + slope * reach));
    pen.stroke();
    pen.setLineDash([]);
  }

  axes(pen) {
    const [a, b, , d] = this.box;
    this.small = `11px ${css(this.root, "--st-font") || "sans-serif"}`;
    pen.font = this.small;
    pen.fillStyle = this.muted;
    pen.strokeStyle = this.line;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(...this.at(a, d));
    pen.lineTo(...this.at(a, 0));
    pen.lineTo(...this.at(b, 0));
    pen.stroke();
    pen.textAlign = "center";
    const step = nice((b - a) / 8);
    for (let x = Math.ceil(a / step) * step; x <= b + 1e-9; x += step)
      pen.fillText(number(x, step < 1 ? 1 : 0), this.at(x, 0)[0], CURVE_TALL - 26);
    pen.fillText(this.data.words.x_axis, (46 + this.width) / 2, CURVE_TALL - 8);
    pen.textAlign = "right";
    const up = nice(d / 5);
    for (let y = 0; y <= d; y += up) pen.fillText(number(y, up < 1 ? 1 : 0), 40, this.at(a, y)[1] + 3);
    pen.textAlign = "left";
    pen.fillText(this.data.words.y_axis, 50, 12);
  }
}

function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].find((k) => k * power >= x) * power;
}
