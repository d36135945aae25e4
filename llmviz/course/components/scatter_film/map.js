// The field of a map: axes, points by kind, what is near the chosen ones, names where there is room.

import { GRID, frame, inside, ring, roundStep, segment, ticks, upright } from "../_shared/chart.js";
import { css, el, fit, mix, rgb, rgbText, styles } from "../_shared/common.js";
import { number } from "../_shared/numbers.js";
import { MAP, NameLayer, neighbourRow } from "./names.js";

const LOOK = { ...GRID, face: "--mono", tick: 11 };
const BELOW = { ...LOOK, baseline: "top", below: 5 };

// Corners of the shapes, for a radius of 1; a circle has none.
export const CORNERS = {
  square: [
    [-0.88, -0.88],
    [0.88, -0.88],
    [0.88, 0.88],
    [-0.88, 0.88],
  ],
  diamond: [
    [0, -1.25],
    [1.25, 0],
    [0, 1.25],
    [-1.25, 0],
  ],
  triangle: [
    [0, -1.2],
    [1.15, 0.85],
    [-1.15, 0.85],
  ],
};

export class ScatterMap {
  constructor(root) {
    this.root = root;
    this.canvas = el("canvas", "map", null, { tabindex: 0, role: "application" });
    this.view = null; // null: all of it; else { x, y, scale } set by the hand
    this.layer = new NameLayer(this);
  }

  // `data` as it was sent; `at` (N × 2) the places to draw now.
  take(data) {
    this.data = data;
    const [frames, n] = data.points.shape;
    this.frames = frames;
    this.n = n;
    const low = [Infinity, Infinity];
    const high = [-Infinity, -Infinity];
    for (let i = 0; i < data.points.length; i++) {
      const v = data.points[i];
      if (v < low[i & 1]) low[i & 1] = v;
      if (v > high[i & 1]) high[i & 1] = v;
    }
    this.low = low;
    this.high = high;
    this.layer.take(data);
    this.styles = data.kindNames.map((_, k) => ({
      color: `--lv-kind-${k % data.colors}`,
      shape: data.shapes[(k + Math.floor(k / data.colors)) % data.shapes.length],
    }));
  }

  frame(step) {
    return this.data.points.subarray(step * this.n * 2, (step + 1) * this.n * 2);
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
  }

  palette() {
    const get = (name) => css(this.root, name);
    this.colors = {
      ink: get("--lv-ink"),
      muted: get("--lv-muted"),
      line: get("--lv-line"),
      hair: get("--lv-hair"),
      accent: get("--lv-accent"),
      key: get("--lv-key"),
      paper: get("--st-background-color") || get("--lv-surface"),
    };
    this.ramp = [rgb(get("--lv-key")), rgb(get("--lv-line"))];
    this.kindColors = this.styles.map((style) => get(style.color));
    this.font = `12px ${get("--st-font") || "sans-serif"}`;
    this.bold = `600 13px ${get("--st-font") || "sans-serif"}`;
    this.layer.widths.clear();
  }

  // What the whole film spans fits the field; a unit is equally long on both axes if asked for.
  fitted() {
    const room = [this.width - MAP.left - MAP.right - 2 * MAP.pad, this.height - MAP.top - MAP.bottom - 2 * MAP.pad];
    const span = [0, 1].map((d) => this.high[d] - this.low[d]);
    const size = span.map((s, d) => (s > 0 ? Math.max(20, room[d]) / s : Infinity));
    const common = Math.min(...size);
    const scale = common === Infinity ? [1, 1] : size.map((s) => (this.data.equal ? common : s === Infinity ? common : s));
    return { x: (this.low[0] + this.high[0]) / 2, y: (this.low[1] + this.high[1]) / 2, scale };
  }

  camera() {
    return this.view ?? this.fitted();
  }

  place(x, y) {
    const c = this.now;
    return [
      (MAP.left + this.width - MAP.right) / 2 + (x - c.x) * c.scale[0],
      (MAP.top + this.height - MAP.bottom) / 2 - (y - c.y) * c.scale[1],
    ];
  }

  zoom(factor, px = null, py = null) {
    const c = this.camera();
    const cx = (MAP.left + this.width - MAP.right) / 2;
    const cy = (MAP.top + this.height - MAP.bottom) / 2;
    const dx = (px ?? cx) - cx;
    const dy = (py ?? cy) - cy;
    const scale = c.scale.map((s) => s * factor);
    this.view = {
      x: c.x + dx / c.scale[0] - dx / scale[0],
      y: c.y - dy / c.scale[1] + dy / scale[1],
      scale,
    };
  }

  pan(dx, dy) {
    const c = this.camera();
    this.view = { x: c.x - dx / c.scale[0], y: c.y + dy / c.scale[1], scale: c.scale };
  }

  whole() {
    this.view = null;
  }

  // The point under the pointer, or -1.
  hit(px, py, reach = 12) {
    let best = -1;
    let near = reach * reach;
    for (let i = 0; i < this.n; i++) {
      const d = (this.px[i] - px) ** 2 + (this.py[i] - py) ** 2;
      if (d <= near) {
        near = d;
        best = i;
      }
    }
    return best;
  }

  // `say`: { step, at, lit: Set, chosen: [near], hover, matches: Set or null, trails: bool }
  draw(say) {
    this.now = this.camera();
    this.canvas.dataset.scale = this.now.scale[0].toPrecision(6); // pixels a unit
    const pen = fit(this.canvas, this.width, this.height);
    this.px = new Float32Array(this.n);
    this.py = new Float32Array(this.n);
    for (let i = 0; i < this.n; i++) [this.px[i], this.py[i]] = this.place(say.at[2 * i], say.at[2 * i + 1]);
    this.axes(pen);
    inside(pen, [MAP.left, MAP.top, this.width - MAP.left - MAP.right, this.height - MAP.top - MAP.bottom], () => {
      this.links(pen);
      if (say.trails) this.trails(pen, say);
      this.lines(pen, say);
      this.points(pen, say);
    });
    this.layer.draw(pen, say);
  }

  axes(pen) {
    const { left, right, top, bottom } = MAP;
    const { colors } = this;
    const style = styles(this.root);
    const plot = {
      ...{ width: this.width, height: this.height, left, right: this.width - right, top, bottom: this.height - bottom },
      x: (value) => this.place(value, 0)[0],
      y: (value) => this.place(0, value)[1],
    };
    const marks = (middle, room, d) => {
      const half = room / 2 / this.now.scale[d];
      const about = room / 90;
      const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(roundStep((2 * half) / about)) + 1e-9)));
      return ticks([middle - half, middle + half], about).map((value) => [value, number(value, digits)]);
    };
    const across = marks(this.now.x, plot.right - left, 0);
    const up = marks(this.now.y, plot.bottom - top, 1);
    frame(pen, style, plot, { x: { marks: across, grid: "zero" } }, BELOW);
    // Lanes are no numbers.
    frame(pen, style, plot, { y: { marks: up.map(([value, text]) => [value, this.data.equal ? text : ""]), grid: "zero" } }, LOOK);
    pen.font = this.font;
    pen.fillStyle = colors.muted;
    pen.textAlign = "right";
    pen.textBaseline = "bottom";
    pen.fillText(this.data.axes[0], this.width - right, this.height - 1);
    pen.textBaseline = "middle";
    upright(pen, this.data.axes[1], 10, top);
  }

  // Thin lines between points, or from the origin to one.
  links(pen) {
    const { links } = this.data;
    const [x, y] = this.place(0, 0);
    pen.strokeStyle = this.colors.muted;
    pen.lineWidth = 1.4;
    for (let k = 0; k < links.length; k += 2) {
      const [from, to] = [links[k], links[k + 1]].map((i) => (i < 0 ? [x, y] : [this.px[i], this.py[i]]));
      segment(pen, ...from, ...to);
    }
  }

  // The way of the chosen points up to now.
  trails(pen, say) {
    pen.strokeStyle = this.colors.accent;
    pen.lineJoin = "round";
    for (const near of say.chosen) {
      const i = near.point;
      pen.lineWidth = 1.2;
      pen.globalAlpha = 0.55;
      pen.beginPath();
      for (let k = 0; k <= say.step; k++) {
        const at = (k * this.n + i) * 2;
        const [x, y] = this.place(this.data.points[at], this.data.points[at + 1]);
        if (k === 0) pen.moveTo(x, y);
        else if (k < say.step) pen.lineTo(x, y);
      }
      pen.lineTo(this.px[i], this.py[i]);
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  lines(pen, say) {
    for (const near of say.chosen) {
      pen.strokeStyle = this.colors.ink;
      pen.lineWidth = 1;
      pen.globalAlpha = 0.55;
      for (const j of neighbourRow(near.ids, say.step)) this.line(pen, near.point, j);
      pen.globalAlpha = 1;
    }
  }

  line(pen, i, j) {
    segment(pen, this.px[i], this.py[i], this.px[j], this.py[j]);
  }

  points(pen, say) {
    const { data } = this;
    const strong = new Set();
    const false_ = new Set();
    for (const near of say.chosen) {
      strong.add(near.point);
      for (const j of neighbourRow(near.ids, say.step)) strong.add(j);
      for (const j of near.false ? neighbourRow(near.false, say.step) : []) if (j >= 0) false_.add(j);
    }
    const focus = strong.size > 0 || say.matches !== null;
    const radius = this.n > 900 ? 3 : 4;
    const order = [[], [], []];
    for (let i = 0; i < this.n; i++) {
      const bright = strong.has(i) || say.matches?.has(i) || false_.has(i);
      order[bright ? 2 : data.shade || say.lit.has(data.kinds[i]) ? 1 : 0].push(i);
    }
    for (const [rank, members] of order.entries()) {
      for (const i of members) {
        const kind = data.kinds[i];
        const colored = data.shade || say.lit.has(kind);
        pen.fillStyle = data.shade
          ? rgbText(mix(...this.ramp, (data.shade.values[i] - data.shade.low) / (1 - data.shade.low)))
          : colored
            ? this.kindColors[kind]
            : this.colors.muted;
        pen.globalAlpha = rank === 2 ? 1 : rank === 1 ? (focus ? 0.5 : 0.9) : focus ? 0.18 : 0.28;
        this.shape(pen, i, colored && !data.shade ? this.styles[kind].shape : "circle", rank === 0 ? radius - 1.2 : radius);
        pen.fill();
      }
    }
    pen.globalAlpha = 1;
    for (const j of false_) this.ring(pen, j, this.colors.key, 8, [3, 3]);
    for (const near of say.chosen) this.ring(pen, near.point, this.colors.accent, 9, []);
    if (say.hover >= 0) this.ring(pen, say.hover, this.colors.ink, 8, []);
  }

  shape(pen, i, shape, r) {
    pen.beginPath();
    if (!CORNERS[shape]) return pen.arc(this.px[i], this.py[i], r, 0, 2 * Math.PI);
    CORNERS[shape].forEach(([x, y], k) => pen[k ? "lineTo" : "moveTo"](this.px[i] + r * x, this.py[i] + r * y));
    pen.closePath();
  }

  ring(pen, i, color, r, dash) {
    pen.setLineDash(dash);
    pen.strokeStyle = color;
    pen.lineWidth = 2;
    ring(pen, [this.px[i], this.py[i]], r);
    pen.setLineDash([]);
  }
}
