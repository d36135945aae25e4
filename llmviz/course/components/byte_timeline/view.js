// Bytes alive from operation to operation, stacked by kind; a moment is pointed at, and one is kept.

import { font, frame, inside, plotIn, pointer, segment, shorten, ticks } from "../_shared/chart.js";
import { el, fit, follow, live, sentence, spotOf, styles } from "../_shared/common.js";
import { whole } from "../_shared/numbers.js";

export default function (component) {
  return live(component, (root, send) => new Timeline(root, send));
}

const SIDES = { left: 62, right: 10, top: 18, bottom: 62 };
const HEIGHT = 320;
const LISTED = 8; // tensors
// In the order of the kinds; what only comes and goes is grey.
const COLOURS = ["--lv-kind-0", "--lv-kind-4", "--lv-kind-2", "--lv-kind-1", "--lv-kind-5", "--lv-residual"];
const UNITS = ["B", "kB", "MB", "GB", "TB"];

export function size(bytes) {
  let unit = 0;
  let number = bytes;
  while (number >= 999.5 && unit < UNITS.length - 1) {
    number /= 1000;
    unit++;
  }
  const digits = number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return `${unit === 0 ? whole(number) : number.toFixed(digits)} ${UNITS[unit]}`;
}

class Timeline {
  constructor(root, send) {
    Object.assign(this, { root, send, at: null, kept: null });
    this.legend = el("div", "legend");
    this.canvas = el("canvas", "timeline", null, { role: "application" });
    this.canvas.tabIndex = 0;
    this.told = el("div", "at", null, { "aria-live": "polite" });
    this.list = el("div", "alive");
    this.hint = el("p", "hint");
    root.append(this.legend, this.canvas, this.told, this.list, this.hint);
    pointer(
      this.canvas,
      (x) => this.hit(x),
      (i) => this.look(i),
    );
    this.canvas.addEventListener("click", (event) => this.keep(this.hit(spotOf(event, this.canvas)[0])));
    this.canvas.addEventListener("keydown", (event) => this.keys(event));
  }

  update(data, width) {
    this.data = data;
    const { live: bytes, kinds, words } = data;
    const moments = (this.moments = bytes.shape[1]);
    this.sums = Array.from({ length: moments }, (_, i) => kinds.reduce((sum, _kind, k) => sum + bytes[k * moments + i], 0));
    this.peak = this.sums.indexOf(Math.max(...this.sums));
    this.kept = follow(this, "chosen", data.chosen, this.kept);
    this.at = null;
    this.canvas.setAttribute("aria-label", words.name);
    this.hint.textContent = words.hint;
    this.values = kinds.map((kind, k) => this.entry(kind, k));
    this.legend.replaceChildren(...this.values.map((value) => value.parentElement));
    this.layout(width);
  }

  entry(kind, k) {
    const entry = el("span", "kind");
    const value = el("b");
    entry.append(this.swatch(k), el("span", null, kind), value);
    return value;
  }

  swatch(k) {
    const box = el("span", "swatch");
    box.style.background = `var(${COLOURS[k]})`;
    return box;
  }

  layout(width) {
    this.plot = plotIn([width, HEIGHT], SIDES, [0, this.moments], [0, Math.max(this.data.least, this.sums[this.peak] * 1.06)]);
    this.show();
  }

  // The moment that is looked at: under the pointer, else the kept one, else the peak.
  now() {
    return this.at ?? this.kept ?? this.peak;
  }

  show() {
    this.draw();
    this.tell();
  }

  draw() {
    const { plot, data, moments } = this;
    const { x, y, left, right, top, bottom } = plot;
    const pen = fit(this.canvas, plot.width, HEIGHT);
    const style = styles(this.root);
    frame(pen, style, plot, { y: { marks: this.marks(), grid: "hair" } });
    const floor = new Float64Array(moments);
    data.kinds.forEach((_, k) => {
      pen.fillStyle = style(COLOURS[k]);
      pen.beginPath();
      pen.moveTo(left, y(floor[0]));
      for (let i = 0; i < moments; i++) {
        const height = y(floor[i] + data.live[k * moments + i]);
        pen.lineTo(x(i), height);
        pen.lineTo(x(i + 1), height);
      }
      for (let i = moments - 1; i >= 0; i--) {
        pen.lineTo(x(i + 1), y(floor[i]));
        pen.lineTo(x(i), y(floor[i]));
        floor[i] += data.live[k * moments + i];
      }
      pen.fill();
    });
    this.sections(pen, style);
    const summit = y(this.sums[this.peak]);
    pen.strokeStyle = pen.fillStyle = style("--lv-ink");
    pen.lineWidth = 1;
    pen.setLineDash([4, 3]);
    segment(pen, left, summit, right, summit);
    pen.setLineDash([]);
    pen.font = font(style, 12);
    pen.textBaseline = "bottom";
    pen.textAlign = x(this.peak) < (left + right) / 2 ? "right" : "left";
    const text = data.words.peak.replace("{size}", size(this.sums[this.peak]));
    pen.fillText(text, pen.textAlign === "left" ? left + 4 : right - 14, summit - 3);
    const at = this.now();
    pen.strokeStyle = style("--lv-ink");
    pen.lineWidth = 1.5;
    const middle = Math.round((x(at) + x(at + 1)) / 2) + 0.5;
    segment(pen, middle, top, middle, bottom);
  }

  // Round numbers of one unit.
  marks() {
    const top = this.plot.y.value(this.plot.top);
    let unit = 1;
    while (top / unit >= 1000) unit *= 1000;
    return ticks([0, top / unit], 5).map((value) => [value * unit, size(value * unit)]);
  }

  // Below the picture: what goes on, and where in the model.
  sections(pen, style) {
    const { plot, data, moments } = this;
    const { x, left, bottom, top } = plot;
    const { sections } = data;
    const ends = sections.map((_, i) => (i + 1 < sections.length ? sections[i + 1][2] : moments));
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    const row = (from, to, text, height, size) => {
      const [a, b] = [x(from), x(to)];
      inside(pen, [a, bottom, b - a, SIDES.bottom], () => {
        pen.font = font(style, size);
        const room = b - a - 4;
        const short = shorten(pen, text, room);
        if (short === text || room > 44) pen.fillText(short, (a + b) / 2, height);
      });
    };
    const active = this.now();
    let first = 0;
    let lined = left - 30; // the last line from top to bottom; a few are enough
    sections.forEach(([phase, part, begins], i) => {
      const last = i + 1 === sections.length || sections[i + 1][0] !== phase;
      const turns = i > 0 && sections[i - 1][0] !== phase && x(begins) - lined >= 30;
      if (turns) lined = x(begins);
      pen.strokeStyle = style(turns ? "--lv-muted" : "--lv-line");
      pen.lineWidth = 1;
      const line = Math.round(x(begins)) + 0.5;
      if (i) segment(pen, line, turns ? top : bottom - 6, line, bottom + 24);
      if (begins <= active && active < ends[i]) {
        pen.fillStyle = style("--lv-accent");
        pen.fillRect(x(begins), bottom + 1, Math.max(2, x(ends[i]) - x(begins)), 3);
      }
      pen.fillStyle = style("--lv-muted");
      row(begins, ends[i], part, bottom + 15, 11);
      if (last) {
        pen.fillStyle = style("--lv-ink");
        row(first, ends[i], phase, bottom + 34, 12.5);
        first = ends[i];
      }
    });
    pen.fillStyle = style("--lv-muted");
    pen.font = font(style, 11.5);
    pen.fillText(data.words.across, (plot.left + plot.right) / 2, HEIGHT - 9);
  }

  tell() {
    const { data, moments } = this;
    const at = this.now();
    const { words, lives, sizes, names } = data;
    this.values.forEach((value, k) => {
      value.textContent = size(data.live[k * moments + at]);
    });
    const section = data.sections.findLast(([, , begins]) => begins <= at);
    const filled = { phase: section[0], part: section[1], operation: data.operations[at] };
    const place = data.operations[at] ? sentence(words.at, filled) : words.start;
    this.told.textContent = `${place} · ${words.all.replace("{size}", size(this.sums[at]))}`;
    const found = [];
    for (let i = 0; i < sizes.length; i++) if (lives[4 * i + 2] <= at && at < lives[4 * i + 3]) found.push(i);
    found.sort((a, b) => sizes[b] - sizes[a]);
    const rows = found.slice(0, LISTED).flatMap((i) => {
      const tensor = el("span", "tensor");
      tensor.append(this.swatch(lives[4 * i + 1]), el("span", null, names[lives[4 * i]]));
      return [tensor, el("span", "size", size(sizes[i]))];
    });
    const rest = found.slice(LISTED);
    if (rest.length) {
      const left = rest.reduce((sum, i) => sum + sizes[i], 0);
      rows.push(el("span", "tensor", words.more.replace("{count}", whole(rest.length))), el("span", "size", size(left)));
    }
    this.list.replaceChildren(...rows);
  }

  hit(x) {
    const i = Math.floor(this.plot.x.value(x));
    return i >= 0 && i < this.moments ? i : null;
  }

  look(i) {
    if (i === this.at) return;
    this.at = i;
    this.show();
  }

  keep(i) {
    if (i === null) return;
    this.kept = i === this.kept ? null : i;
    this.send("chosen", this.kept);
    this.show();
  }

  keys(event) {
    const now = this.now();
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: this.moments - 1 }[event.key];
    if (event.key === "Enter") this.keep(now);
    else if (to === undefined) return;
    else this.look(Math.max(0, Math.min(this.moments - 1, to)));
    event.preventDefault();
    event.stopPropagation();
  }
}
