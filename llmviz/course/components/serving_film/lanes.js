// A lane for each request over the time of the run: it waits, its prompt is read, it writes.

import { el, fit, spotOf, styles } from "../_shared/common.js";
import { font, segment, shorten, ticks } from "../_shared/chart.js";
import { fixed } from "../_shared/numbers.js";

const PITCH = [5, 16]; // from one lane to the next, in pixels: where there are many, and few
const TALL = 720; // pixels that the lanes take at most, if their pitch allows
const NAMES = 74;
const FOOT = 24;
const THIN = { waiting: ["--lv-muted", []], idle: ["--lv-line", []], preempted: ["--lv-key", [4, 3]], swapped: ["--lv-key", [1, 3]] };
const SHARE = { prefill: 1, decode: 0.5 }; // of the request's colour

export class Lanes {
  constructor(root, { choose, go }) {
    this.root = root;
    this.node = el("canvas", "film-lanes", null, { role: "img" });
    this.still = document.createElement("canvas"); // all but the cursor
    this.node.onclick = (event) => {
      const [x, y] = spotOf(event, this.node);
      const lane = Math.floor(y / this.pitch);
      if (lane < this.data.sequences.length) choose(lane);
      if (x >= NAMES) go(this.tickAt(x));
    };
  }

  configure(data, states, colours, width) {
    this.data = data;
    this.colours = colours;
    this.states = states;
    this.node.setAttribute("aria-label", data.words.times);
    this.layout(width);
  }

  layout(width) {
    this.width = width;
    const count = this.data.sequences.length;
    this.pitch = Math.max(PITCH[0], Math.min(PITCH[1], Math.floor(TALL / count)));
    this.lane = this.pitch - (this.pitch > 10 ? 3 : 1);
    this.height = count * this.pitch + FOOT;
    this.chosen = null;
  }

  end() {
    return Math.max(this.data.until, this.data.ticks.at(-1).end) || 1;
  }

  x(seconds) {
    return NAMES + (seconds / this.end()) * (this.width - NAMES - 8);
  }

  tickAt(x) {
    const { ticks } = this.data;
    const found = ticks.findIndex((tick) => this.x(tick.end) >= x);
    return found < 0 ? ticks.length - 1 : found;
  }

  paint(at, chosen) {
    if (this.chosen !== chosen) {
      this.chosen = chosen;
      this.drawStill();
    }
    const pen = this.pen;
    pen.clearRect(0, 0, this.width, this.height);
    pen.drawImage(this.still, 0, 0, this.width, this.height);
    const style = styles(this.root);
    const tick = this.data.ticks[at];
    pen.fillStyle = style("--lv-accent");
    const from = this.x(tick.begin);
    pen.globalAlpha = 0.35;
    pen.fillRect(from, 0, Math.max(1, this.x(tick.end) - from), this.height - FOOT);
    pen.globalAlpha = 1;
    pen.fillRect(this.x(tick.end) - 1, 0, 2, this.height - FOOT);
  }

  drawStill() {
    this.pen = fit(this.node, this.width, this.height);
    const { sequences, words } = this.data;
    const style = styles(this.root);
    const pen = fit(this.still, this.width, this.height);
    pen.textBaseline = "middle";
    sequences.forEach((one, sequence) => {
      const top = sequence * this.pitch;
      const mine = sequence === this.chosen;
      pen.font = font(style, 11.5);
      pen.textAlign = "left";
      pen.fillStyle = style(mine ? "--lv-ink" : "--lv-muted");
      // Where lanes are thin, only the chosen one has room for its name.
      if (mine || this.pitch > 10) pen.fillText(shorten(pen, one.name, NAMES - 10), 2, top + this.lane / 2 + 1);
      if (mine) {
        pen.fillStyle = style("--lv-hair");
        pen.fillRect(NAMES, top - 1, this.width - NAMES - 8, this.lane + 2);
      }
      this.drawLane(pen, style, sequence, top);
    });
    const floor = this.height - FOOT;
    pen.strokeStyle = style("--lv-line");
    segment(pen, NAMES, floor, this.width - 8, floor);
    pen.fillStyle = style("--lv-muted");
    pen.font = font(style, 11);
    pen.textAlign = "center";
    for (const mark of ticks([0, this.end()], this.width < 520 ? 3 : 6)) {
      segment(pen, this.x(mark), floor, this.x(mark), floor + 3);
      const text = `${fixed(mark, this.end() < 3 ? 2 : 1)} s`;
      pen.fillText(text, Math.min(this.width - 18, this.x(mark)), floor + 13);
    }
    pen.textAlign = "left";
    pen.fillText(words.time, 2, floor + 13);
  }

  // From the arrival to its first tick it waits; then come stretches of one state each.
  drawLane(pen, style, sequence, top) {
    const { sequences, ticks, stateNames } = this.data;
    const states = this.states.of(sequence);
    const colour = style(`--lv-kind-${this.colours[sequence]}`);
    const running = (at) => ["prefill", "decode", "padding"].includes(stateNames[states[at]]);
    let from = states.findIndex((_, at) => !["away", "waiting"].includes(stateNames[states[at]]));
    const first = from < 0 ? this.end() : running(from) ? ticks[from].begin : ticks[from - 1].end;
    this.drawState(pen, style, "waiting", colour, [sequences[sequence].arrives, first], top);
    for (let at = from + 1; from >= 0 && at <= ticks.length; at++) {
      if (at < ticks.length && states[at] === states[from]) continue;
      const begin = running(from) ? ticks[from].begin : ticks[from - 1].end;
      const end = at < ticks.length && !running(from) ? ticks[at].begin : ticks[at - 1].end;
      this.drawState(pen, style, stateNames[states[from]], colour, [begin, end], top);
      from = at;
    }
  }

  drawState(pen, style, state, colour, [begin, end], top) {
    const [left, right] = [this.x(begin), this.x(end)];
    if (state in THIN) {
      const [ink, dash] = THIN[state];
      pen.strokeStyle = style(ink);
      pen.setLineDash(dash);
      segment(pen, left, top + this.lane / 2, right, top + this.lane / 2);
      pen.setLineDash([]);
    } else if (state in SHARE) {
      pen.globalAlpha = SHARE[state];
      pen.fillStyle = colour;
      pen.fillRect(left, top, Math.max(1, right - left), this.lane);
      pen.globalAlpha = 1;
    } else if (state === "padding") {
      pen.strokeStyle = colour;
      pen.strokeRect(left + 0.5, top + 0.5, Math.max(1, right - left - 1), this.lane - 1);
    }
  }
}
