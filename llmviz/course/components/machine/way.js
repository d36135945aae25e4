// The way of one token, from top to bottom, where the whole machine would not fit: what is drawn
// comes from the same trace, and a tap on another token shows its way.

import { el, fit, isCalm } from "../_shared/common.js";
import { number, whole } from "../_shared/numbers.js";
import { drawTile, fill, makePips, makeTitle, shareText } from "./parts.js";
import { worded } from "../_shared/worded.js";

export const NARROW = 560; // below this width a token's way is shown in place of the machine
const SOURCES = 3; // tokens that a layer is said to look at
const LISTED = 6; // next tokens
const DEEP = 8; // with more layers than these the open one alone is shown
const STRIP = 18; // pixels: the height of a vector

export class Way {
  constructor(machine) {
    this.machine = machine;
    this.node = el("div", "way");
  }

  build() {
    const { data, layers, last } = this.machine;
    const { words, rows, values } = data;
    this.stops = [];
    const stop = (key, stage, link = key) => {
      const box = el("section", "stop");
      const node = makeTitle(words.titles[key], data.links[link], words, (chapter) => this.machine.trigger("chapter", chapter));
      box.append(node);
      this.stops.push({ box, node, stage });
      return { box, node };
    };
    const tokens = stop("tokens", 0);
    tokens.node.sub.textContent = whole(rows.length + rows[0].position);
    this.chips = rows.map((row, r) => {
      const chip = el("button", "chip", row.text, { type: "button", "aria-label": `${row.text}, ${row.id}` });
      chip.classList.toggle("special", row.special);
      chip.style.setProperty("--tint", `var(--lv-tint-${row.position % 6})`);
      chip.onclick = () => this.machine.choose(r);
      return chip;
    });
    const line = el("div", "line");
    line.append(...this.chips);
    tokens.box.append(line);
    this.ids = stop("ids", 1);
    this.ids.node.sub.textContent = words.of.replace("{vocab}", whole(data.vocab));
    this.ids.text = this.ids.box.appendChild(el("b", "num"));
    if (!values) {
      this.ids.box.append(el("p", data.coming ? "wait coming" : "wait", words.loading));
      return this.show();
    }
    this.strips = [this.strip(stop("vectors", 2))];
    this.layers = Array.from({ length: layers }, (_, l) => {
      const { box, node } = stop("layer", 3 + 2 * l, `layer ${l}`);
      node.firstChild.firstChild.textContent = words.titles.layer.replace("{layer}", l);
      const pips = makePips(
        this.machine.heads,
        worded("{one}, {other}", { one: words.titles.layer.replace("{layer}", l), other: words.head }),
        (h) => this.machine.chooseHead(l, h),
      );
      const looks = el("div", "looks");
      box.append(pips, looks);
      if (layers > DEEP) box.append(this.machine.steps(l, (to) => this.layers[to].box));
      this.strips.push(this.strip({ box }));
      return { box, pips, looks, node };
    });
    this.next = stop("next", last);
    this.list = this.next.box.appendChild(el("div", "list"));
    this.next.box.append(this.machine.actions);
    this.show();
  }

  // The canvas of a vector, and beside it how long the vector is.
  strip({ box }) {
    const row = el("div", "vector");
    const canvas = el("canvas", null, null, { "aria-hidden": "true" });
    const length = el("span", "num");
    row.append(canvas, length);
    box.append(row);
    return { canvas, length };
  }

  show() {
    this.node.replaceChildren(...this.stops.map(({ box }) => box));
  }

  style(step, complete, ratio) {
    const { data, focus: r } = this.machine;
    const { rows, values, words } = data;
    for (const { box, node, stage } of this.stops) {
      box.classList.toggle("ahead", stage > step);
      node.classList.toggle("now", !complete && (stage === step || (stage > 2 && stage < this.machine.last && stage === step - 1)));
    }
    this.chips.forEach((chip, k) => {
      chip.classList.toggle("on", k === r);
      chip.setAttribute("aria-pressed", String(k === r));
    });
    this.ids.text.textContent = `${rows[r].text} → ${rows[r].id}`;
    if (!values) return;
    this.layers.forEach(({ box, pips, looks, node }, l) => {
      box.hidden = this.layers.length > DEEP && l !== this.machine.view.layer;
      if (box.hidden) return;
      const head = this.machine.view.heads[l];
      pips.pips.forEach((pip, h) => {
        pip.classList.toggle("on", h === head);
        pip.setAttribute("aria-checked", String(h === head));
      });
      node.sub.textContent = `${words.head} ${head}`;
      looks.replaceChildren(...this.sources(l, r));
    });
    this.list.replaceChildren(...this.entries(r));
    this.paint(ratio);
  }

  // What the chosen head of a layer takes the most from, with its shares.
  sources(l, r) {
    const { rows, words } = this.machine.data;
    const earlier = rows[0].position > 0;
    const found = Array.from({ length: r + 1 + earlier }, (_, i) => i - earlier);
    found.sort((a, b) => this.machine.weight(l, r, b) - this.machine.weight(l, r, a));
    return found.slice(0, SOURCES).map((k) => {
      const w = this.machine.weight(l, r, k);
      const line = el("div", "look");
      const bar = el("i", "weight");
      bar.style.height = `${Math.max(1, 14 * w)}px`;
      line.append(el("code", "tok", k < 0 ? words.before : rows[k].text), bar, el("span", "num", shareText(w)));
      return line;
    });
  }

  entries(r) {
    const { values, next, rows } = this.machine.data;
    const listed = values.top_ids.shape[1];
    fill(this.next.node.sub, this.machine.data.words.after, { token: { token: rows[r].text } });
    return Array.from({ length: Math.min(LISTED, listed) }, (_, k) => {
      const at = r * listed + k;
      const share = values.top_probabilities[at];
      const entry = el("div", "entry");
      entry.classList.toggle("picked", r === rows.length - 1 && values.top_ids[at] === next.id);
      const bar = el("i", "share-bar");
      bar.style.width = `${100 * share}%`;
      const rail = el("span", "share-rail");
      rail.append(bar, el("span", "name", values.top_texts[r][k]));
      entry.append(rail, el("span", "num", shareText(share)));
      return entry;
    });
  }

  // Bring the stage that is played into view, where it is not.
  follow(step) {
    const now = this.stops.findLast(({ stage }) => stage <= step);
    if (step < this.machine.last) now?.box.scrollIntoView({ block: "nearest", behavior: isCalm() ? "auto" : "smooth" });
  }

  paint(ratio) {
    const { focus, tiles } = this.machine;
    // All widths before the first canvas is changed: between the two the page would be laid out anew.
    const widths = this.strips.map(({ canvas }) => canvas.parentElement.clientWidth - 62);
    this.strips.forEach(({ canvas, length }, c) => {
      const width = widths[c];
      if (width <= 0) return;
      const pen = fit(canvas, width, STRIP, ratio);
      pen.imageSmoothingEnabled = false;
      drawTile(pen, tiles[c], focus, 0, 0, width, STRIP);
      length.textContent = number(tiles[c].lengths[focus], 2);
      length.title = this.machine.data.words.card.length;
    });
  }
}
