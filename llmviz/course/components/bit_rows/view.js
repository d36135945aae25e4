// One number in several formats. Each bit is a button: flipping it gives another number, which all
// formats then show. What is settled on goes back to the page as "format:pattern".

import { el, follow, live, sentence } from "../_shared/common.js";
import { powerOf, powerOfTen, whole } from "../_shared/numbers.js";
import { stepPlayer } from "../_shared/player.js";
import { decode, encode, fate, fields, isLast, kindOf, spacing, wholeOf } from "./formats.js";

export default function (component) {
  return live(component, (root, send) => new BitRows(root, send));
}

const UNUSUAL = { nan: NaN, inf: Infinity, "-inf": -Infinity };
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

// A value with nine digits.
function text(x) {
  if (Number.isNaN(x)) return "NaN";
  if (Math.abs(x) === Infinity) return x < 0 ? "−∞" : "∞";
  if (x === 0) return Object.is(x, -0) ? "−0" : "0";
  const size = Math.abs(x);
  if (size >= 1e-4 && size < 1e7) return String(Number(x.toPrecision(9))).replace("-", "−");
  const [digits, exponent] = x.toExponential(8).split("e");
  return `${String(Number(digits)).replace("-", "−")}·${powerOfTen(exponent)}`;
}

// A size with three digits.
function about(x) {
  return text(Number(x.toPrecision(3)));
}

class BitRows {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.head = el("div", "bits-head");
    this.value = el("span", "bits-number num");
    this.reset = el("button", "bits-reset");
    this.reset.onclick = () => this.settle("");
    this.head.append(this.value, this.reset);
    this.list = el("div", "bits-rows");
    root.append(this.head, this.list);
    this.head.setAttribute("aria-live", "polite");
  }

  update(data) {
    if (data.film) return this.play(data);
    const same = this.data && JSON.stringify([this.data.formats, data.words]) === JSON.stringify([data.formats, data.words]);
    this.data = data;
    this.pattern = follow(this, "pattern", data.pattern, this.pattern);
    if (!same) {
      this.rows = data.formats.map((format) => new Row(this, format));
      this.list.replaceChildren(...this.rows.map((row) => row.node));
      this.reset.textContent = data.words.reset;
    }
    this.show();
  }

  // A film: a player changes what each format holds of a sum after so many additions.
  play(data) {
    this.data = data;
    if (!this.player) {
      this.head.remove();
      this.player = stepPlayer(this.root, this.send, () => this.paint(), 90);
      this.line = el("p", "bits-line", null, { "aria-live": "polite" });
      this.root.append(this.line);
    }
    this.rows = data.formats.map((format) => new Row(this, format));
    this.list.replaceChildren(...this.rows.map((row) => row.node));
    const text = (at) => `${whole(this.data.film.stops[at])} / ${whole(this.data.film.stops.at(-1))}`;
    this.player.stand(data.film.stops.length - 1, follow(this, "step", data.step, this.player.step), { text, label: text });
    this.paint();
  }

  paint() {
    const at = this.player.step;
    if (at < 0) return;
    const { film, words } = this.data;
    const said = { n: whole(film.stops[at]), exact: text(film.exact[at]) };
    for (const row of this.rows) {
      const { name } = row.format;
      const own = film.sums[name];
      if (own) said[name] = text(own[at]);
      const [before, now] = [Math.max(0, at - 1), at].map((i) => (own ? encode(row.format, own[i]) : null));
      row.show(film.exact[at], now, before);
    }
    this.line.textContent = sentence(words.film, said);
  }

  number() {
    const [name, bits] = (this.pattern ?? "").split(":");
    const format = this.data.formats.find((one) => one.name === name);
    if (format) return decode(format, Number(bits));
    const written = this.data.number;
    return written in UNUSUAL ? UNUSUAL[written] : Number(written);
  }

  settle(pattern) {
    this.pattern = pattern;
    this.show();
    this.send("pattern", pattern);
  }

  show() {
    const number = this.number();
    const { words } = this.data;
    const [from] = (this.pattern ?? "").split(":");
    this.value.textContent = sentence(from ? words.flipped : words.number, { value: text(number), format: from });
    this.reset.hidden = !from;
    const own = from ? Number(this.pattern.split(":")[1]) : null;
    // The row whose bit was flipped keeps its very pattern: NaN has many.
    for (const row of this.rows) row.show(number, row.format.name === from ? own : encode(row.format, number));
  }
}

class Row {
  constructor(board, format) {
    this.board = board;
    this.format = format;
    const { words } = board.data;
    this.node = el("div", "bits-row");
    this.node.dataset.format = format.name;
    this.node.classList.toggle("film", Boolean(board.data.film));
    const title = el("div", "bits-title");
    title.append(el("span", "bits-name", format.label), el("span", "muted", format.note));
    this.buttons = [];
    const groups = el("div", "bits-groups", null, { role: "group", "aria-label": format.label });
    for (const [group, width] of format.groups) {
      const box = el("div", `bits-group ${group}`, null, { title: words.groups[group] });
      for (let i = 0; i < width; i++) {
        const button = el("button", "bit num");
        const place = format.bits - 1 - this.buttons.length;
        button.onclick = () => this.flip(place);
        button.onkeydown = (event) => this.key(event, format.bits - 1 - place);
        button.tabIndex = this.buttons.length ? -1 : 0;
        button.dataset.group = words.groups[group];
        this.buttons.push(button);
        box.append(button);
      }
      groups.append(box);
    }
    this.value = el("span", "bits-value num");
    this.formula = el("span", "bits-formula num");
    this.fate = el("span", "bits-fate");
    this.gap = el("span", "muted");
    const says = el("div", "bits-says");
    says.append(this.value, this.formula, this.fate, this.gap);
    this.node.append(title, groups, says);
  }

  flip(place) {
    if (this.bits === null) return;
    const weight = 2 ** place;
    const set = Math.floor(this.bits / weight) % 2;
    this.board.settle(`${this.format.name}:${this.bits + (set ? -weight : weight)}`);
  }

  key(event, at) {
    if (!(event.key in STEPS)) return;
    event.preventDefault();
    const next = this.buttons[at + STEPS[event.key]];
    if (!next) return;
    this.buttons[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  // before: bits that it had a moment ago, in a film.
  show(number, bits, before = null) {
    const { format } = this;
    const { words } = this.board.data;
    this.bits = bits;
    this.buttons.forEach((button, i) => {
      const set = bits === null ? "–" : String(Math.floor(bits / 2 ** (format.bits - 1 - i)) % 2);
      button.textContent = set;
      button.classList.toggle("set", set === "1");
      button.classList.toggle("turned", before !== null && String(Math.floor(before / 2 ** (format.bits - 1 - i)) % 2) !== set);
      button.disabled = bits === null || Boolean(this.board.data.film);
      button.setAttribute("aria-label", sentence(words.bit, { number: i + 1, all: format.bits, group: button.dataset.group, set }));
    });
    if (bits === null) {
      this.value.textContent = this.board.data.film ? "?" : words.none;
      this.formula.textContent = this.fate.textContent = this.gap.textContent = "";
      this.node.dataset.fate = "none";
      return;
    }
    const held = decode(format, bits);
    const what = fate(format, number, bits);
    const gap = spacing(format, bits);
    this.node.dataset.fate = what;
    this.value.textContent = text(held);
    this.formula.textContent = this.formulaOf(bits);
    const error = Math.abs(held - number);
    this.fate.textContent = sentence(words.fates[what], {
      error: about(error),
      share: about((100 * error) / Math.abs(number)),
      value: text(held),
    });
    this.gap.textContent = gap === null || isLast(format, bits) ? "" : sentence(words.spacing, { spacing: about(gap) });
  }

  // How the value is made from the bits.
  formulaOf(bits) {
    const { format } = this;
    const { words } = this.board.data;
    const { kind, power } = kindOf(format, bits);
    if (kind === "whole") {
      const half = 2 ** (format.bits - 1);
      const whole = wholeOf(format, bits);
      return whole < 0 ? `= −${half} + ${whole + half}` : `= ${whole}`;
    }
    if (kind === "infinite" || kind === "nan") return words.special[kind];
    const { sign, mantissa } = fields(format, bits);
    const lead = kind === "normal" ? 1 : 0;
    return `= ${sign ? "−" : "+"} ${powerOf(2, power)} × (${lead} + ${mantissa}/${2 ** format.mantissa})`;
  }
}
