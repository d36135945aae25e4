// A landscape of two weights as a map with contour lines, and the ways of walkers on it.

import { dot, font, plotIn, segment } from "../_shared/chart.js";
import { css, eachFrame, el, fit, isDark, later, mix, rgb, rgbText, spotOf, styles } from "../_shared/common.js";
import { number } from "../_shared/numbers.js";
import { stepsAt } from "./walks.js";

export class MapStage {
  constructor(root, onStart) {
    this.root = root;
    this.box = el("div", "stage");
    this.ground = el("canvas", "ground");
    this.canvas = el("canvas", "balls", null, { tabindex: 0, role: "application" });
    this.scale = el("div", "map-scale num");
    this.box.append(this.ground, this.canvas);
    root.append(this.box, this.scale);
    this.card = el("div", "height num");
    this.box.appendChild(this.card);
    this.card.hidden = true;
    this.canvas.onclick = (event) => onStart(this.place(event));
    this.canvas.onpointermove = eachFrame((event) => this.read(event));
    this.canvas.onpointerleave = () => (this.card.hidden = true);
    const tell = later((start) => onStart(start), 350);
    this.canvas.onkeydown = (event) => {
      const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!by) return;
      const { low, high } = this.data.stage;
      this.start = this.start.map((x, i) => Math.max(low[i], Math.min(high[i], x + (by[i] * (high[i] - low[i])) / 40)));
      this.paint(...this.last);
      tell(this.start);
      event.preventDefault();
      event.stopPropagation();
    };
  }

  update(data) {
    this.data = data;
    this.canvas.setAttribute("aria-label", data.words.map);
    this.start = [...data.walkers[0].path.slice(0, 2)];
  }

  layout(width) {
    const { low, high, levels } = this.data.stage;
    this.width = Math.round(width);
    this.height = Math.round((this.width * (high[1] - low[1])) / (high[0] - low[0]));
    const sides = { left: 0, right: 0, top: 0, bottom: 0 };
    this.plot = plotIn([this.width, this.height], sides, [low[0], high[0]], [low[1], high[1]]);
    this.box.style.width = `${this.width}px`;
    this.box.style.height = `${this.height}px`;
    this.palette();
    this.drawGround();
    const ramp = el("span", "ramp");
    ramp.style.background = `linear-gradient(90deg, ${rgbText(this.shade(0))}, ${rgbText(this.shade(0.5))}, ${rgbText(this.shade(1))})`;
    const [first, final] = [levels[0], levels[levels.length - 1]];
    this.scale.replaceChildren(
      el("span", null, `${this.data.words.loss} ${number(first, 2)}`),
      ramp,
      el("span", null, number(final, 2)),
      el("span", "muted", this.data.words.click),
    );
  }

  palette() {
    const get = (name) => rgb(css(this.root, name));
    this.paper = get("--st-background-color");
    this.deep = get("--lv-neutral-pos");
    this.dark = isDark(this.root);
    this.ink = css(this.root, "--lv-ink");
    this.muted = css(this.root, "--lv-muted");
  }

  // Low ground is dark, high ground pale.
  shade(share) {
    return mix(this.paper, this.deep, (this.dark ? 0.5 : 0.62) * (1 - share) ** 1.35 + 0.02);
  }

  place(event) {
    const [x, y] = spotOf(event, this.canvas);
    return [this.plot.x.value(x), this.plot.y.value(y)];
  }

  read(event) {
    const [x, y] = this.place(event);
    const { low, high, heights } = this.data.stage;
    const [rows, cols] = heights.shape;
    const c = Math.max(0, Math.min(cols - 1, Math.round(((x - low[0]) / (high[0] - low[0])) * (cols - 1))));
    const r = Math.max(0, Math.min(rows - 1, Math.round(((y - low[1]) / (high[1] - low[1])) * (rows - 1))));
    this.card.textContent = `(${number(x, 2)}, ${number(y, 2)}): ${number(heights[r * cols + c], 3)}`;
    this.card.hidden = false;
    const [px, py] = this.plot.at(x, y);
    this.card.style.left = `${Math.min(this.width - 150, px + 12)}px`;
    this.card.style.top = `${Math.max(0, py - 30)}px`;
  }

  // Bands between the levels with a line at each, and a light from above left.
  drawGround() {
    const { heights, levels } = this.data.stage;
    const [rows, cols] = heights.shape;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const W = Math.round(this.width * ratio);
    const H = Math.round(this.height * ratio);
    this.ground.width = W;
    this.ground.height = H;
    this.ground.style.width = `${this.width}px`;
    this.ground.style.height = `${this.height}px`;
    const pen = this.ground.getContext("2d");
    const picture = pen.createImageData(W, H);
    const z = new Float32Array(W * H);
    for (let j = 0; j < H; j++) {
      const v = (1 - j / (H - 1)) * (rows - 1);
      const r = Math.min(rows - 2, Math.floor(v));
      for (let i = 0; i < W; i++) {
        const u = (i / (W - 1)) * (cols - 1);
        const c = Math.min(cols - 2, Math.floor(u));
        const [a, b] = [u - c, v - r];
        const k = r * cols + c;
        z[j * W + i] =
          (heights[k] * (1 - a) + heights[k + 1] * a) * (1 - b) + (heights[k + cols] * (1 - a) + heights[k + cols + 1] * a) * b;
      }
    }
    const colors = levels.map((_, n) => this.shade(n / Math.max(1, levels.length - 1)));
    const bands = new Uint8Array(W * H);
    for (let k = 0; k < z.length; k++) {
      let n = 0;
      while (n < levels.length - 1 && z[k] >= levels[n + 1]) n++;
      bands[k] = n;
    }
    const lines = this.dark ? 26 : -22;
    for (let j = 0; j < H; j++) {
      for (let i = 0; i < W; i++) {
        const k = j * W + i;
        const color = colors[bands[k]];
        const edge = (i + 1 < W && bands[k] !== bands[k + 1]) || (j + 1 < H && bands[k] !== bands[k + W]);
        for (let d = 0; d < 3; d++) picture.data[4 * k + d] = color[d] + (edge ? lines : 0);
        picture.data[4 * k + 3] = 255;
      }
    }
    pen.putImageData(picture, 0, 0);
  }

  paint(stops, place, followed) {
    this.last = [stops, place, followed];
    const pen = fit(this.canvas, this.width, this.height);
    const { walkers, stage } = this.data;
    pen.lineJoin = pen.lineCap = "round";
    for (const [x, y] of stage.minima) this.cross(pen, ...this.plot.at(x, y));
    const order = walkers.map((_, w) => w).sort((a, b) => (a === followed) - (b === followed));
    const labels = [];
    for (const w of order) this.walk(pen, walkers[w], stops[w], stepsAt(walkers[w], place), w === followed, labels);
    if (this.start.some((x, i) => Math.abs(x - walkers[0].path[i]) > 1e-6)) {
      const [x, y] = this.plot.at(...this.start);
      pen.strokeStyle = this.ink;
      pen.setLineDash([3, 3]);
      pen.strokeRect(x - 7, y - 7, 14, 14);
      pen.setLineDash([]);
    }
    this.name(pen, labels);
  }

  cross(pen, x, y) {
    pen.strokeStyle = this.ink;
    pen.lineWidth = 1.5;
    segment(pen, x - 5, y, x + 5, y);
    segment(pen, x, y - 5, x, y + 5);
  }

  walk(pen, walker, stop, k, strong, labels) {
    const [, n] = walker.path.shape;
    const point = (s) => this.plot.at(walker.path[(stop * n + s) * 2], walker.path[(stop * n + s) * 2 + 1]);
    const done = Math.min(k, walker.lasted[stop]);
    const color = css(this.root, walker.role === "ink" ? "--lv-ink" : `--lv-${walker.role}`);
    const trace = (from, to) => {
      pen.beginPath();
      for (let s = from; s <= to; s++) s === from ? pen.moveTo(...point(s)) : pen.lineTo(...clip(point(s), this.width, this.height));
      pen.stroke();
    };
    pen.strokeStyle = color;
    pen.globalAlpha = 0.22;
    pen.lineWidth = 1.5;
    trace(done, walker.lasted[stop]);
    // A pale edge keeps a line visible on dark ground.
    pen.globalAlpha = 0.75;
    pen.strokeStyle = rgbText(this.paper);
    pen.lineWidth = strong ? 5 : 4;
    trace(0, done);
    pen.globalAlpha = 1;
    pen.strokeStyle = color;
    pen.lineWidth = strong ? 2.6 : 1.8;
    trace(0, done);
    pen.fillStyle = color;
    for (let s = 0; s < done; s++) dot(pen, point(s), strong ? 2.4 : 1.7);
    const end = clip(point(done), this.width, this.height);
    pen.lineWidth = 2;
    pen.strokeStyle = rgbText(this.paper);
    dot(pen, end, strong ? 7.5 : 6);
    pen.stroke();
    if (walker.lasted[stop] < n - 1 && done === walker.lasted[stop]) labels.push([`${walker.label} ↗`, end, color]);
    else labels.push([walker.label, end, color]);
  }

  // Names beside the balls, moved apart where they would cover each other.
  name(pen, labels) {
    pen.font = `600 ${font(styles(this.root), 12)}`;
    pen.textBaseline = "middle";
    const taken = [];
    for (const [text, [x, y], color] of labels.reverse()) {
      const wide = pen.measureText(text).width;
      const left = x + 12 + wide > this.width ? x - 12 - wide : x + 12;
      let top = Math.max(10, Math.min(this.height - 10, y));
      while (taken.some(([a, b, w]) => Math.abs(b - top) < 15 && a < left + wide && left < a + w)) top += 15;
      taken.push([left, top, wide]);
      pen.lineWidth = 4;
      pen.strokeStyle = rgbText(this.paper);
      pen.strokeText(text, left, top);
      pen.fillStyle = color;
      pen.fillText(text, left, top);
    }
  }
}

// A place far outside is drawn at a finite distance, so that the line leads the right way.
export function clip([x, y], width, height) {
  const far = 20 * Math.max(width, height);
  return [Math.max(-far, Math.min(far, x)), Math.max(-far, Math.min(far, y))];
}
