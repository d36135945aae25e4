// Two vectors as arrows from one point, in the plane that they span, with their true angle.

import { font, frame, plotIn, segment, shorten, ticks } from "../_shared/chart.js";
import { el, fit, live, sentence, styles } from "../_shared/common.js";
import { figure, short } from "../_shared/numbers.js";

export default function (component) {
  return live(component, (root) => new Arrows(root));
}

const SIDES = { left: 54, right: 14, top: 14, bottom: 44 };
const [LEAST, MOST] = [200, 340]; // pixels that the plane may be high
const HEAD = 11;

class Arrows {
  constructor(root) {
    this.root = root;
    this.canvas = el("canvas", "plane", null, { role: "img" });
    this.told = el("div", "told num");
    root.append(this.canvas, this.told);
  }

  update(data, width) {
    this.data = data;
    const { tips, names, words } = data;
    const lines = names.map((name, i) => {
      const parts = { name, x: figure(tips[2 * i]), y: figure(tips[2 * i + 1]) };
      return sentence(words.tip, parts);
    });
    this.told.replaceChildren(...lines.map((line) => el("span", null, line)));
    this.canvas.setAttribute("aria-label", [words.name, ...lines, data.gap].join("; "));
    this.layout(width);
  }

  // A unit is equally long on both axes; the picture is as high as that asks for.
  layout(width) {
    const { tips } = this.data;
    const range = [0, 1].map((axis) => [Math.min(0, tips[axis], tips[2 + axis]), Math.max(0, tips[axis], tips[2 + axis])]);
    const pad = 0.16 * Math.max(...range.map(([low, high]) => high - low), 1e-9);
    const [xs, ys] = range.map(([low, high]) => [low - pad, high + pad]);
    const inner = width - SIDES.left - SIDES.right;
    const wanted = (inner * (ys[1] - ys[0])) / (xs[1] - xs[0]);
    const high = Math.max(LEAST, Math.min(MOST, wanted));
    const unit = Math.min(inner / (xs[1] - xs[0]), high / (ys[1] - ys[0]));
    // What is left over goes to both sides alike.
    const wide = (value, room) => (room / unit - (value[1] - value[0])) / 2;
    const [dx, dy] = [wide(xs, inner), wide(ys, high)];
    this.xs = [xs[0] - dx, xs[1] + dx];
    this.ys = [ys[0] - dy, ys[1] + dy];
    this.plot = plotIn([width, high + SIDES.top + SIDES.bottom], SIDES, this.xs, this.ys);
    this.draw();
  }

  draw() {
    const { plot } = this;
    const pen = fit(this.canvas, plot.width, plot.height);
    const style = styles(this.root);
    const { axes } = this.data;
    const marks = (range, about) => ticks(range, about).map((value) => [value, short(value)]);
    frame(pen, style, plot, {
      x: { marks: marks(this.xs, plot.width < 400 ? 4 : 6), grid: "zero", title: axes[0] },
      y: { marks: marks(this.ys, 5), grid: "zero", title: axes[1] },
    });
    const { tips, names, gap } = this.data;
    const ends = [plot.at(tips[0], tips[1]), plot.at(tips[2], tips[3])];
    const origin = plot.at(0, 0);
    pen.strokeStyle = style("--lv-muted");
    pen.lineWidth = 1.5;
    pen.setLineDash([3, 4]);
    segment(pen, ...ends[0], ...ends[1]);
    pen.setLineDash([]);
    ["--lv-accent", "--lv-neutral-pos"].forEach((name, i) => this.arrow(pen, origin, ends[i], style(name)));
    pen.font = font(style, 13);
    pen.textBaseline = "middle";
    const apart = Math.hypot(ends[0][0] - ends[1][0], ends[0][1] - ends[1][1]);
    // Else there is no room between the tips.
    if (apart > 40) this.label(pen, gap, (ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2, style("--lv-muted"), style);
    pen.font = font(style, 14);
    // Clear of the arrows, and of each other.
    const above = ends[0][1] <= ends[1][1] ? [-1, 1] : [1, -1];
    names.forEach((name, i) => this.label(pen, name, ends[i][0], ends[i][1] + 17 * above[i], style("--lv-ink"), style));
  }

  label(pen, text, x, y, ink, style) {
    const { left, right, width } = this.plot;
    const short = shorten(pen, text, width * 0.6);
    const half = pen.measureText(short).width / 2 + 3;
    const at = Math.max(left + half, Math.min(right - half, x));
    pen.fillStyle = style("--st-background-color") || style("--lv-surface");
    pen.globalAlpha = 0.85;
    pen.fillRect(at - half, y - 9, 2 * half, 18);
    pen.globalAlpha = 1;
    pen.fillStyle = ink;
    pen.textAlign = "center";
    pen.fillText(short, at, y);
  }

  arrow(pen, [x0, y0], [x1, y1], color) {
    const long = Math.hypot(x1 - x0, y1 - y0);
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = 3;
    if (long > HEAD) segment(pen, x0, y0, x1 - ((x1 - x0) * HEAD * 0.7) / long, y1 - ((y1 - y0) * HEAD * 0.7) / long);
    const turn = Math.atan2(y1 - y0, x1 - x0);
    pen.beginPath();
    pen.moveTo(x1, y1);
    for (const side of [-1, 1]) pen.lineTo(x1 - HEAD * Math.cos(turn + side * 0.45), y1 - HEAD * Math.sin(turn + side * 0.45));
    pen.fill();
  }
}
