// Named points of two kinds and the lines that walkers draw between them, with one point's sums.

import { OPEN, closest, dot, font, frame, plotIn, ring, segment } from "../_shared/chart.js";
import { css, eachFrame, el, fit, inkOn, inks, mix, rgb, rgbText, spotOf, styles } from "../_shared/common.js";
import { number } from "../_shared/numbers.js";
import { bracket } from "./update_table.js";
import { stepsAt } from "./walks.js";

const PLANE_TALL = 400;
const PLANE_SIDES = { left: 52, right: 12, top: 14, bottom: 44 };
const PLANE_LOOK = { ...OPEN, sides: "box", below: 16, drop: 4, aside: 11 };
const REACH = 22; // pixels from which a point is pointed at

export class PlaneStage {
  constructor(root, onPoint) {
    this.root = root;
    this.canvas = el("canvas", "plane", null, { tabindex: 0, role: "application" });
    this.sums = el("div", "sums num", null, { "aria-live": "polite" });
    this.key = el("div", "plane-key");
    root.append(this.canvas, this.key, this.sums);
    this.chosen = null;
    this.choose = (i, kept) => {
      this.chosen = i;
      this.paint(...this.last);
      if (kept) onPoint(i);
    };
    this.canvas.onpointermove = eachFrame((event) => this.point(event, false));
    this.canvas.onclick = (event) => this.point(event, true);
    this.canvas.onpointerleave = () => this.choose(null, false);
    this.canvas.onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      const n = this.data.stage.names.length;
      this.data.stage.chosen = ((this.data.stage.chosen ?? 0) + by + n) % n;
      this.choose(this.data.stage.chosen, true);
      event.preventDefault();
      event.stopPropagation();
    };
  }

  update(data) {
    this.data = data;
    this.canvas.setAttribute("aria-label", data.words.plane);
    const { kinds } = data.words;
    this.key.replaceChildren(
      ...[1, 0].flatMap((y) => {
        const mark = el("span", "mark", null);
        mark.style.background = this.color(y);
        return [mark, el("span", null, kinds[y])];
      }),
      el("span", "ringed"),
      el("span", null, data.words.batch),
    );
  }

  color(y) {
    return y ? "var(--lv-value)" : "var(--lv-key)";
  }

  layout(width) {
    this.width = Math.round(width);
    const { x } = this.data.stage;
    const n = x.shape[0];
    const span = (d) => {
      const values = [...Array(n).keys()].map((i) => x[2 * i + d]);
      const [a, b] = [Math.min(...values), Math.max(...values)];
      return [a - 0.1 * (b - a), b + 0.1 * (b - a)];
    };
    this.box = [span(0), span(1)];
    this.plot = plotIn([this.width, PLANE_TALL], PLANE_SIDES, ...this.box);
  }

  spot(i) {
    const { x } = this.data.stage;
    return this.plot.at(x[2 * i], x[2 * i + 1]);
  }

  point(event, kept) {
    const best = closest(this.data.stage.names.length, (i) => this.spot(i), spotOf(event, this.canvas), REACH);
    if (kept && best !== null) this.data.stage.chosen = best;
    this.choose(best, kept && best !== null);
  }

  weights(walker, stop, k) {
    const n = walker.path.shape[1];
    const from = (stop * n + Math.min(k, walker.lasted[stop])) * 3;
    return [...walker.path.slice(from, from + 3)];
  }

  // Where w₁ x + w₂ y + b is 0 inside the picture, as two ends, or null.
  ends([w1, w2, b]) {
    const [[xa, xb], [ya, yb]] = this.box;
    const crossings = [];
    if (Math.abs(w2) > 1e-9) for (const x of [xa, xb]) crossings.push([x, -(w1 * x + b) / w2]);
    if (Math.abs(w1) > 1e-9) for (const y of [ya, yb]) crossings.push([-(w2 * y + b) / w1, y]);
    const inside = crossings.filter(([x, y]) => x >= xa - 1e-6 && x <= xb + 1e-6 && y >= ya - 1e-6 && y <= yb + 1e-6);
    return inside.length >= 2 ? [inside[0], inside[inside.length - 1]] : null;
  }

  paint(stops, place, followed) {
    this.last = [stops, place, followed];
    const pen = fit(this.canvas, this.width, PLANE_TALL);
    const { stage, walkers } = this.data;
    const paper = rgb(css(this.root, "--st-background-color"));
    this.halves(pen, this.weights(walkers[followed], stops[followed], stepsAt(walkers[followed], place)), paper);
    this.axes(pen);
    walkers.forEach((walker, w) => {
      const ends = this.ends(this.weights(walker, stops[w], stepsAt(walker, place)));
      if (!ends) return;
      pen.strokeStyle = css(this.root, walker.role === "ink" ? "--lv-ink" : `--lv-${walker.role}`);
      pen.lineWidth = w === followed ? 3 : 1.5;
      pen.globalAlpha = w === followed ? 1 : 0.6;
      segment(pen, ...this.plot.at(...ends[0]), ...this.plot.at(...ends[1]));
      pen.globalAlpha = 1;
    });
    const k = stepsAt(walkers[followed], place);
    const batch = new Set(stage.batches[followed][k] ?? []);
    const answers = stage.answers.of === followed ? stage.answers : null;
    const look = this.chosen ?? stage.chosen;
    const n = walkers[followed].path.shape[1];
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    stage.names.forEach((name, i) => {
      const [x, y] = this.spot(i);
      const role = stage.y[i] ? "value" : "key";
      const wrong = answers && answers.p[(stops[followed] * n + k) * stage.names.length + i] > 0.5 !== Boolean(stage.y[i]);
      pen.fillStyle = css(this.root, `--lv-${role}`);
      pen.globalAlpha = wrong ? 1 : 0.9;
      dot(pen, [x, y], 11);
      pen.globalAlpha = 1;
      if (wrong) {
        pen.strokeStyle = css(this.root, "--lv-ink");
        pen.lineWidth = 2;
        for (const s of [-1, 1]) {
          segment(pen, x - 13, y - s * 13, x - 7, y - s * 7);
          segment(pen, x + 7, y + s * 7, x + 13, y + s * 13);
        }
      }
      if (batch.has(i)) this.ring(pen, x, y, 15, css(this.root, "--lv-ink"), 1.6);
      if (i === look) this.ring(pen, x, y, 18, css(this.root, "--lv-accent"), 3);
      pen.fillStyle = inkOn(rgb(css(this.root, `--lv-${role}`)), inks(styles(this.root)));
      pen.font = `700 ${font(styles(this.root), 12.5, "--mono")}`;
      pen.fillText(name, x, y + 0.5);
    });
    this.write(answers, stops[followed], k, followed, look);
  }

  ring(pen, x, y, r, color, width) {
    pen.strokeStyle = color;
    pen.lineWidth = width;
    ring(pen, [x, y], r);
  }

  // The side that says yes, in the colour of yes.
  halves(pen, [w1, w2, b], paper) {
    const [[xa, xb], [ya, yb]] = this.box;
    const corners = [
      [xa, ya],
      [xb, ya],
      [xb, yb],
      [xa, yb],
    ];
    const side = ([x, y]) => w1 * x + w2 * y + b;
    if (w1 === 0 && w2 === 0) return;
    for (const yes of [true, false]) {
      const shape = [];
      corners.forEach((corner, i) => {
        const next = corners[(i + 1) % 4];
        const [s, t] = [side(corner), side(next)];
        if (s > 0 === yes) shape.push(corner);
        if (s > 0 !== t > 0) shape.push(corner.map((c, d) => c + ((next[d] - c) * s) / (s - t)));
      });
      if (!shape.length) continue;
      pen.fillStyle = rgbText(mix(paper, rgb(css(this.root, yes ? "--lv-value" : "--lv-key")), 0.1));
      pen.beginPath();
      shape.forEach((corner, i) => pen[i ? "lineTo" : "moveTo"](...this.plot.at(...corner)));
      pen.fill();
    }
  }

  axes(pen) {
    const { words, stage } = this.data;
    const marks = stage.ticks.map((given, d) => given.filter(([value]) => value > this.box[d][0] && value < this.box[d][1]));
    const axes = { x: { marks: marks[0], title: words.x_axis }, y: { marks: marks[1], title: words.y_axis } };
    frame(pen, styles(this.root), this.plot, axes, PLANE_LOOK);
  }

  // The chosen point's way from its two numbers to its loss.
  write(answers, stop, k, followed, look) {
    const { stage, words } = this.data;
    if (!answers) return this.sums.replaceChildren();
    const walker = this.data.walkers[followed];
    const N = stage.names.length;
    const n = walker.path.shape[1];
    const base = (stop * n + k) * N;
    const right = stage.names.filter((_, i) => answers.p[base + i] > 0.5 === Boolean(stage.y[i])).length;
    const head = el("p", "counted", words.counted.replace("{right}", right).replace("{all}", N));
    const lines = [head];
    if (look !== null && look !== undefined) {
      const [w1, w2, b] = this.weights(walker, stop, k);
      const [x1, x2] = [stage.x[2 * look], stage.x[2 * look + 1]];
      const i = base + look;
      const y = stage.y[look];
      const p = number(answers.p[i], 4);
      lines.push(
        el(
          "p",
          null,
          `${stage.names[look]}:  z = ${bracket(w1)} × ${bracket(x1)} + ${bracket(w2)} × ${bracket(x2)} + ${bracket(b)} = ${number(answers.z[i], 4)}`,
        ),
        el("p", null, `p = 1 ÷ (1 + e^(${number(-answers.z[i], 4)})) = ${p}`),
        el(
          "p",
          null,
          `${words.loss} = −ln ${y ? "p" : "(1 − p)"} = −ln ${number(Math.exp(-answers.loss[i]), 4)} = ${number(answers.loss[i], 4)} ${words.nats}`,
        ),
        el("p", null, `${words.slope} = p − y = ${p} − ${y} = ${number(answers.p[i] - y, 4)}`),
      );
    }
    this.sums.replaceChildren(...lines);
  }
}
