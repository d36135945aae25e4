// Softmax at a temperature: a row a token, a column an operation, a slider through the stops that
// Python computed, and the curve of entropy with the stop on it.

import { linePath, plotIn } from "../_shared/chart.js";
import { eachFrame, el, live, svg, Told } from "../_shared/common.js";
import { chance, local, number } from "../_shared/numbers.js";
import { moveThumb, namedSlider } from "../_shared/slider.js";
import { worded } from "../_shared/worded.js";

const acts = new WeakMap();

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const act = (what) => acts.get(component.parentElement)("act", what);
  return live(component, (root) => new SoftmaxView(root, act));
}

const COLUMNS = ["scaled", "shifted", "exp", "probability"];
const TALL = 190;
const SIDES = { left: 40, right: 16, top: 26, bottom: 34 };

class SoftmaxView {
  constructor(root, act) {
    this.root = root;
    const slider = namedSlider();
    this.name = slider.name;
    this.range = slider.range;
    this.value = slider.value;
    this.body = el("div", "body");
    this.table = el("div", "table");
    this.scroll = el("div", "scroll");
    this.scroll.appendChild(this.table);
    this.side = el("div", "side");
    this.body.append(this.scroll, this.side);
    this.line = el("p", "line num", null, { "aria-live": "polite" });
    root.append(slider.bar, this.body, this.line);
    this.told = new Told();
    const show = eachFrame(() => this.paint());
    this.range.oninput = () => {
      this.at = Number(this.range.value);
      this.down = true;
      show();
    };
    this.range.onchange = () => {
      this.down = false;
      this.at = Number(this.range.value);
      if (this.at === this.told.last(this.data.at)) return;
      this.told.say(this.at);
      act({ at: this.at });
    };
  }

  update(data, width) {
    const same = this.data?.stops.join() === data.stops.join(); // else a place means another stop
    if (!same) this.told = new Told();
    const moved = !same || this.told.moved(data.at, this.data.at);
    this.data = data;
    if (moved && !this.down) this.at = data.at;
    this.name.textContent = data.words.temperature;
    this.range.max = data.stops.length - 1;
    this.range.setAttribute("aria-label", worded("temperature"));
    const parts = ["", "logit", ...COLUMNS].map((name) => el("div", `head ${name}`, name && data.words[name]));
    this.cells = data.names.map((name, i) => {
      parts.push(el("code", "token", name), el("div", "num cell", number(data.logits[i], 2)));
      return COLUMNS.map((column) => {
        const box = el("div", `num cell ${column}`);
        const text = el("span");
        if (column === "probability") {
          const track = el("div", "track");
          const level = el("div", "level");
          track.appendChild(level);
          box.append(track, text);
          box.level = level;
        } else box.appendChild(text);
        box.text = text;
        parts.push(box);
        return box;
      });
    });
    this.table.replaceChildren(...parts);
    this.layout(width);
  }

  layout(width) {
    this.wide = width >= 860;
    this.root.classList.toggle("wide", this.wide);
    this.root.classList.toggle("narrow", width < 500);
    this.curve(this.wide ? Math.min(380, width - 620) : Math.min(width, 460));
    this.paint();
  }

  text(stop) {
    return stop === null ? "∞" : number(stop, stop < 1 ? 2 : 1);
  }

  curve(width) {
    this.size = Math.max(240, width);
    const { stops, entropy, words } = this.data;
    this.plot = plotIn([this.size, TALL], SIDES, [0, Math.max(1, stops.length - 1)], [0, Math.log(this.data.vocab)]);
    const { left, right, top, bottom, x } = this.plot;
    const small = (text, at, y, anchor = "middle") => svg("text", { class: "small", x: at, y, "text-anchor": anchor }, text);
    const picture = svg("svg", { width: this.size, height: TALL, role: "img", "aria-label": words.entropy });
    const named = stops.flatMap((stop, s) => (s && [0.5, 1, 2, 5].includes(stop) ? [small(local(String(stop)), x(s), TALL - 18)] : []));
    this.drop = svg("path", { class: "drop" });
    this.dot = svg("circle", { class: "dot", r: 6 });
    this.reading = svg("text", { class: "reading", "text-anchor": "middle" });
    picture.append(
      svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right + 4}` }),
      svg("path", { class: "limit", d: `M${left} ${top}H${right}` }),
      small(words.all, left, top - 8, "start"),
      small("0", left - 6, bottom + 3, "end"),
      small(this.text(stops[0]), x(0), TALL - 18),
      small("∞", x(stops.length - 1), TALL - 18),
      ...named,
      small("T", this.size / 2, TALL - 3),
      svg("path", { class: "curve", d: linePath(this.plot, entropy) }),
      ...[this.drop, this.dot, this.reading],
    );
    this.side.replaceChildren(el("div", "head", words.entropy), picture);
  }

  paint() {
    const s = this.at;
    const { stops, names, entropy, lines } = this.data;
    const n = names.length;
    moveThumb(this.range, s, stops.length - 1);
    this.range.setAttribute("aria-valuetext", this.text(stops[s]));
    this.value.textContent = this.text(stops[s]);
    this.line.textContent = lines[s];
    for (let i = 0; i < n; i++) {
      COLUMNS.forEach((column, c) => {
        const value = this.data[column][s * n + i];
        const cell = this.cells[i][c];
        cell.text.textContent = Number.isNaN(value)
          ? "–"
          : column === "probability"
            ? chance(value)
            : number(value, column === "exp" ? 4 : 2);
        if (cell.level) cell.level.style.width = `${100 * value}%`;
      });
    }
    const [x, y] = this.plot.at(s, entropy[s]);
    this.dot.setAttribute("cx", x);
    this.dot.setAttribute("cy", y);
    this.drop.setAttribute("d", `M${x} ${y}V${this.plot.bottom}`);
    this.reading.textContent = number(entropy[s], 2);
    this.reading.setAttribute("x", Math.max(60, Math.min(this.size - 30, x)));
    this.reading.setAttribute("y", y > 60 ? y - 12 : y + 24);
  }
}
