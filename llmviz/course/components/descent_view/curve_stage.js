// The curve of a loss over one weight, with the ball on it and the slope that it follows.

import { OPEN, dot, font, frame, inside, line, plotIn, segment, ticks } from "../_shared/chart.js";
import { el, fit, styles } from "../_shared/common.js";
import { number } from "../_shared/numbers.js";
import { clip } from "./map_stage.js";
import { stepsAt } from "./walks.js";

const CURVE_TALL = 340;
const CURVE_SIDES = { left: 46, right: 16, top: 20, bottom: 40 };
const CURVE_LOOK = { ...OPEN, below: 14 };

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
    this.ranges = [
      [x[0], x[x.length - 1]],
      [0, Math.max(...y)],
    ];
    this.plot = plotIn([this.width, CURVE_TALL], CURVE_SIDES, ...this.ranges);
  }

  paint(stops, place) {
    const { plot } = this;
    const pen = fit(this.canvas, this.width, CURVE_TALL);
    const style = styles(this.root);
    const { stage, walkers, words } = this.data;
    this.axes(pen, style);
    pen.lineJoin = "round";
    line(pen, plot, stage.x, stage.y, { color: style("--lv-neutral-pos"), width: 2.5 });
    const walker = walkers[0];
    const stop = stops[0];
    const n = walker.path.shape[1];
    const k = Math.min(stepsAt(walker, place), walker.lasted[stop]);
    const point = (s) => clip(plot.at(walker.path[stop * n + s], walker.losses[stop * n + s]), this.width, CURVE_TALL);
    const color = style(`--lv-${walker.role}`);
    inside(pen, [plot.left, 0, plot.right - plot.left, plot.bottom], () => {
      this.tangent(pen, style, walker, stop, k);
      pen.strokeStyle = pen.fillStyle = color;
      pen.lineWidth = 1.6;
      for (let s = 0; s < k; s++) {
        pen.globalAlpha = 0.35 + 0.65 * ((s + 1) / k);
        segment(pen, ...point(s), ...point(s + 1));
        dot(pen, point(s), 3.2);
      }
    });
    const [x, y] = point(k);
    const seen = y > 4 && x > 40 && x < this.width - 8;
    pen.fillStyle = color;
    pen.strokeStyle = style("--st-background-color");
    pen.lineWidth = 2.5;
    const top = seen ? y : Math.max(30, y); // what is outside stands under the title of the axis
    dot(pen, [Math.max(46, Math.min(this.width - 12, x)), top], 8.5);
    pen.stroke();
    if (!seen) {
      pen.fillStyle = style("--lv-muted");
      pen.font = font(style, 11);
      pen.textAlign = x > this.width / 2 ? "right" : "left";
      pen.fillText(words.outside, x > this.width / 2 ? this.width - 26 : 62, top + 4);
    }
  }

  // The slope that the next step follows.
  tangent(pen, style, walker, stop, k) {
    const n = walker.path.shape[1];
    const slopes = walker.values.gradient;
    if (!slopes || k >= n - 1) return;
    const w = walker.path[stop * n + k];
    const loss = walker.losses[stop * n + k];
    const slope = slopes[stop * (n - 1) + k];
    const reach = (this.ranges[0][1] - this.ranges[0][0]) / 7;
    pen.strokeStyle = style("--lv-ink");
    pen.setLineDash([5, 4]);
    pen.lineWidth = 1.3;
    segment(pen, ...this.plot.at(w - reach, loss - slope * reach), ...this.plot.at(w + reach, loss + slope * reach));
    pen.setLineDash([]);
  }

  axes(pen, style) {
    const { words } = this.data;
    // Whole numbers where the ticks are whole.
    const marks = (range, about) => {
      const values = ticks(range, about);
      const digits = values.every(Number.isInteger) ? 0 : 1;
      return values.map((value) => [value, number(value, digits)]);
    };
    frame(
      pen,
      style,
      this.plot,
      { x: { marks: marks(this.ranges[0], 8), title: words.x_axis }, y: { marks: marks(this.ranges[1], 5) } },
      CURVE_LOOK,
    );
    pen.textAlign = "left";
    pen.fillText(words.y_axis, this.plot.left + 4, 12);
  }
}
