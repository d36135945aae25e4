// A line for each case: its words, what was measured of it on one axis, its number. A line that is not
// told yet has a handle on the axis; what the hand set is reported when it says so.

import { scale } from "../_shared/chart.js";
import { el, live } from "../_shared/common.js";
import { chance, figure, percent, power, whole } from "../_shared/numbers.js";
import { makeHand } from "../_shared/guess.js";
import { worded } from "../_shared/worded.js";

const acts = new WeakMap();

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const act = (what) => acts.get(component.parentElement)("act", what);
  return live(component, (root) => new CaseRows(root, act));
}

const LARGE = [
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
];

// A count, the large ones as one says them.
function count(x) {
  if (x >= 1e15) return power(x);
  const [size, name] = LARGE.find(([size]) => x >= size) ?? [];
  return size ? `${Number((x / size).toPrecision(3))} ${name}` : whole(Math.round(x));
}

const FORMS = { percent: (x) => percent(x, 0), chance, count, figure };
const STOPS = 1000; // of a handle
const NEAR = 4; // percent of the axis: what is marked there may reach over its end
const APART = 4; // pixels between the texts of an axis; where they have less, every other one goes
const MARK = 9; // pixels of a mark that stands on another

class CaseRows {
  constructor(root, act) {
    this.root = root;
    this.table = el("div", "rows");
    this.axis = el("div", "axis");
    this.title = el("div", "axis-title muted");
    const foot = el("div", "row foot");
    const under = el("div");
    under.append(this.axis, this.title);
    foot.append(el("div", "label"), under, el("div", "number"));
    this.hand = makeHand(() => act({ guess: this.guess, said: this.guess.map(this.write) }));
    root.append(this.table, foot, this.hand.node);
  }

  update(data, width) {
    this.data = data;
    this.place = scale([data.axis.low, data.axis.high], [0, 100], data.axis.log);
    this.write = FORMS[data.form];
    this.veiled = data.rows.filter((row) => row.value === null && !row.note);
    const same = JSON.stringify(this.veiled.map((row) => row.label));
    if (same !== this.asked) this.guess = this.veiled.map(() => null);
    this.asked = same;
    this.table.replaceChildren(...data.rows.map((row) => this.row(row)));
    const ticks = data.axis.ticks.map(([value, text]) => this.at("tick", value, el("span", null, text)));
    ticks[0]?.classList.toggle("first", this.place(data.axis.ticks[0][0]) < NEAR);
    this.axis.replaceChildren(...ticks);
    const named = data.levels.map(([, text]) => `┆ ${text}`);
    if (data.rows.some((row) => row.guess !== null)) named.push(`◇ ${data.words.own}`);
    if (data.rows.some((row) => row.ghosts.length)) named.push(`╎ ${data.words.ghost}`);
    this.title.textContent = [data.axis.title, ...named].filter(Boolean).join(" · ");
    this.hand.show(data.words, this.veiled.length > 0, this.ready());
    this.layout(width);
  }

  layout(width) {
    this.root.classList.toggle("narrow", width < 560);
    const ticks = [...this.axis.children];
    for (const tick of ticks) tick.hidden = false;
    const boxes = ticks.map((tick) => tick.getBoundingClientRect());
    const touch = boxes.some((box, i) => i && box.left < boxes[i - 1].right + APART);
    for (const [i, tick] of ticks.entries()) tick.hidden = touch && i % 2 === 1;
  }

  ready() {
    return this.guess.length > 0 && this.guess.every((value) => value !== null);
  }

  // A node at a value of the axis.
  at(name, value, node = el("span")) {
    node.className = name;
    node.style.left = `${Math.max(0, Math.min(100, this.place(value)))}%`;
    return node;
  }

  row(row) {
    const line = el("div", "row");
    const label = el("div", "label");
    label.append(...row.label.map(([text, lit]) => el(lit ? "mark" : "span", null, text)));
    const track = el("div", "track");
    const number = el("div", "num number");
    line.append(label, track, number);
    for (const [value, text] of this.data.levels) track.append(this.named("level", value, text));
    if (row.value === null && !row.note) this.handle(row, track, number);
    else if (row.value === null) this.marked(row, track, number);
    else this.measured(row, track, number);
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", worded("{name}: {text}", { name: label.textContent, text: number.textContent }));
    return line;
  }

  // Marks alone: those at one place stand on each other, so that each is seen.
  marked(row, track, number) {
    const piles = new Map();
    for (const value of row.dots) {
      const place = Math.round(this.place(value) / 2);
      const under = piles.get(place) ?? 0;
      piles.set(place, under + 1);
      const seed = this.at("seed piled", value);
      seed.style.bottom = `${under * MARK}px`;
      track.append(seed);
    }
    track.style.minHeight = `${Math.max(0, ...piles.values()) * MARK}px`;
    number.textContent = row.note;
  }

  measured(row, track, number) {
    const { mark } = this.data;
    const colour = `var(--lv-${row.role})`;
    if (mark === "bar") {
      const bar = el("span", "bar");
      bar.style.width = `${Math.max(0, Math.min(100, this.place(row.value)))}%`;
      bar.style.background = colour;
      track.append(bar);
    }
    if (row.interval) {
      const [from, to] = row.interval.map((value) => Math.max(0, Math.min(100, this.place(value))));
      const whisker = el("span", "whisker");
      whisker.style.left = `${from}%`;
      whisker.style.width = `${to - from}%`;
      track.append(whisker);
    }
    for (const value of row.dots) track.append(this.at("seed", value));
    if (mark === "dot") {
      const dot = this.at("dot", row.value);
      dot.style.background = colour;
      track.append(dot);
    }
    for (const value of row.ghosts) track.append(this.named("ghost", value, this.data.words.ghost));
    if (row.guess !== null) track.append(this.named("own", row.guess, this.data.words.own));
    number.textContent = row.note || this.write(row.value);
  }

  named(kind, value, text) {
    const node = this.at(kind, value);
    node.title = `${text} (${this.write(value)})`;
    return node;
  }

  handle(row, track, number) {
    const index = this.veiled.indexOf(row);
    const fill = el("span", "fill");
    const range = el("input", "handle", null, { type: "range", min: 0, max: STOPS, step: STOPS / 200 });
    range.setAttribute("aria-label", row.label.map(([text]) => text).join(""));
    track.classList.add("open");
    const show = () => {
      const value = this.guess[index];
      const share = this.place(value ?? row.begin);
      range.value = (share * STOPS) / 100;
      fill.style.width = value === null ? 0 : `${share}%`;
      number.textContent = value === null ? "?" : this.write(value);
      range.setAttribute("aria-valuetext", number.textContent);
    };
    range.oninput = () => {
      this.guess[index] = this.place.value((100 * range.value) / STOPS);
      show();
      this.hand.ready(this.ready());
    };
    // A touch counts where it is, also at the end where the handle begins.
    const touched = () => this.guess[index] === null && setTimeout(() => range.oninput());
    range.onpointerdown = touched;
    range.onkeydown = (event) => event.key.startsWith("Arrow") && touched();
    track.append(fill, range);
    show();
  }
}
