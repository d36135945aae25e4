// The machine: tokens are rows that keep their place from the text to the next token. Every stroke
// is a number of the trace; what the hand moves (row, head, layer, stage) stays in the browser.

import { eachFrame, el, follow, isCalm, later, live, makeCard, ratioOf, spotOf } from "../_shared/common.js";
import { fixed, number, whole } from "../_shared/numbers.js";
import { makePlayer } from "../_shared/player.js";
import { MachinePicture } from "./picture.js";
import { bendY } from "./plan.js";
import { NARROW, Way } from "./way.js";
import { worded } from "../_shared/worded.js";

const triggers = new WeakMap();
const TURN = 12; // milliseconds of drawing after which the page has its turn
const MOST_PARTS = 8; // weights of a row that are written out
let machines = 0;

export default function (component) {
  const { parentElement, setTriggerValue } = component;
  const trigger = (name, value) => triggers.get(parentElement)(name, value);
  triggers.set(parentElement, setTriggerValue);
  return live(component, (root, send) => new Machine(root, send, trigger));
}

class Machine extends MachinePicture {
  constructor(root, send, trigger) {
    super();
    this.root = root;
    this.trigger = trigger;
    this.id = `machine-${machines++}`;
    this.view = { layer: 0, heads: [], row: -1, step: -1 };
    this.hover = null;
    this.opened = null; // what was clicked, whose card stays
    this.open = [];
    this.commit = later(() => send("view", { ...this.view }), 250);
    this.top = el("div", "top");
    this.player = makePlayer(this.top, { onStep: (step) => this.go(step), onCommit: () => this.keep({}), pace: 2800, lead: 2800 });
    this.say = el("p", "say", null, { "aria-live": "polite" });
    this.top.append(this.say);
    this.scroll = el("div", "scroll");
    this.stage = el("div", "machine", null, { tabindex: 0, role: "application" });
    this.scroll.append(this.stage);
    this.legend = el("div", "legend");
    this.way = new Way(this);
    root.append(this.top, this.scroll, this.way.node, this.legend);
    this.card = makeCard(root);
    this.spot = el("span", "spot");
    const move = eachFrame((event) => this.drawing || this.point(this.hit(event), event));
    this.stage.addEventListener("pointermove", (e) => e.pointerType === "touch" || move(e));
    this.stage.addEventListener("pointerleave", () => move({ clientX: -1e4, clientY: -1e4 }));
    this.stage.addEventListener("click", (e) => this.click(e));
    this.stage.addEventListener("keydown", (e) => this.keys(e));
  }

  update(data, width) {
    const values = data.values;
    const late = !this.data?.values && values;
    this.view = { ...follow(this, "view", data.view, this.own()) };
    this.data = data;
    this.layers = values ? values.weights.shape[0] : 0;
    this.heads = values ? values.weights.shape[1] : 0;
    this.last = 2 * this.layers + 4;
    if (values) this.fit();
    if (this.view.row >= data.rows.length) this.view.row = -1;
    this.hover = null;
    this.opened = null;
    this.built = false;
    this.told = false;
    this.card.hide();
    this.player.bar.hidden = !values;
    if (values) {
      this.player.stand(this.last, this.view.step < 0 ? this.last : this.view.step, { speeds: [1, 2], label: (s) => this.titleOf(s) });
    }
    this.root.classList.toggle("arriving", Boolean(late));
    if (late) setTimeout(() => this.root.classList.remove("arriving"), 900);
    return this.layout(width);
  }

  // What the hand sees now.
  own() {
    if (!this.data?.values) return this.view;
    return { ...this.view, step: this.player.step >= this.last ? -1 : this.player.step };
  }

  // What was chosen for another model may not exist in this one.
  fit() {
    const { layer, heads } = this.view;
    this.view.layer = Math.min(layer, this.layers - 1);
    this.view.heads = Array.from({ length: this.layers }, (_, l) => Math.min(heads[l] ?? 0, this.heads - 1));
  }

  layout(width) {
    this.width = width;
    this.narrow = width < NARROW;
    this.scroll.hidden = this.legend.hidden = this.narrow;
    this.way.node.hidden = !this.narrow;
    this.turn = null;
    this.open = Array.from({ length: this.layers }, (_, l) => Number(l === this.view.layer));
    this.drawing = this.drawn();
    return this.draw();
  }

  // Draws for a while, and goes on when the page has had its turn: what was drawn before stands until then.
  async draw() {
    const { drawing } = this;
    for (let begun = performance.now(); !drawing.next().done; ) {
      if (performance.now() - begun < TURN) continue;
      await new Promise((done) => setTimeout(done));
      if (this.drawing !== drawing) return;
      begun = performance.now();
    }
    this.show();
  }

  *drawn() {
    const ratio = ratioOf(this.root);
    yield* this.build();
    if (this.narrow) return;
    yield* this.placing();
    // All columns before they stand in the page, which drawing would style; while the model is on its way: none.
    for (let c = 0; c < this.tiles.length; c++) {
      if (c) this.styleLayer(this.layerTitles[c - 1], c - 1);
      this.paintColumn(c, ratio);
      yield;
    }
  }

  show() {
    const ratio = ratioOf(this.root);
    this.drawing = null;
    this.stage.replaceChildren(this.sheet);
    if (this.narrow) this.way.build();
    this.style(ratio);
    this.built = Boolean(this.data.values);
  }

  hit(event) {
    const [x, y] = spotOf(event, this.stage);
    const p = this.plan;
    const strip = p.strips ? p.layers.findIndex((at) => x >= at.x && x < at.end) : -1;
    if (strip >= 0 && strip !== this.view.layer) return { kind: "layer", layer: strip };
    if (y < p.top || y > p.bottom || x < 0 || x > p.width) return null;
    if (this.data.values && x > p.fan) {
      const k = Math.floor((y - p.top) / p.entry);
      return x > p.list - 10 && k < this.entries.length ? { kind: "entry", k } : null;
    }
    const row = Math.floor((y - p.top) / p.pitch);
    if (row >= p.rows) return null;
    const layer = p.layers.findIndex((at) => x >= at.x && x <= at.end);
    if (layer < 0) return { kind: p.layers.length && x >= p.vectorX && x <= p.vectorX + p.vector ? "vector" : "row", row, column: 0 };
    const at = p.layers[layer];
    if (x >= at.tile - 4) return { kind: "vector", row, layer, column: layer + 1 };
    if (x > at.join) return { kind: "network", row, layer };
    return this.nearest(layer, x, y) ?? { kind: "row", row, layer };
  }

  // The curve under the pointer; of several the one with the most weight.
  nearest(layer, x, y) {
    const { plan: p, view } = this;
    const at = p.layers[layer];
    if (layer !== view.layer || x < at.from || x > at.to) return null;
    let nearest = null;
    for (const { q, k } of this.layerTitles[layer].curves) {
      const w = this.weight(layer, q, k);
      if (w < 0.01) continue;
      const off = Math.abs(bendY(at.from, p.y(k), at.to, p.y(q), x) - y);
      if (off > Math.max(4, 4.5 * w)) continue;
      const rank = off - 8 * w;
      if (!nearest || rank < nearest.rank) nearest = { kind: "curve", layer, q, k, row: q, w, rank };
    }
    return nearest;
  }

  point(at, event) {
    if (this.drawing) return; // what stands there is of the text before
    const same = JSON.stringify(at) === JSON.stringify(this.hover);
    this.hover = at;
    if (!same && this.data) this.style();
    if (!this.opened) this.showCard(at, event);
  }

  showCard(at, event) {
    if (!event || !at || !this.data.values) return this.card.hide();
    const [x, y] = spotOf(event, this.stage);
    this.spot.style.left = `${x + 14}px`;
    this.spot.style.top = `${y + 8}px`;
    const told = this.tell(at);
    if (told) this.card.show(this.spot, ...told);
    else this.card.hide();
  }

  tell({ kind, row, layer, column, k, q, w }) {
    const { rows, values, words } = this.data;
    const label = words.card;
    const n = rows.length;
    if (kind === "curve") {
      const source = k < 0 ? words.before : rows[k].text;
      return [
        `${rows[q].text} ← ${source}`,
        [
          [label.weight, number(w, 4)],
          ...this.sumOfRow(layer, q, label),
          [
            label.where,
            worded("{one}, {other}", {
              one: words.titles.layer.replace("{layer}", layer),
              other: `${words.head} ${this.view.heads[layer]}`,
            }),
          ],
        ],
      ];
    }
    if (kind === "vector") {
      const size = values.vectors.shape[2];
      const from = (column * n + row) * size;
      const some = Array.from(values.vectors.subarray(from, from + 6), (v) => fixed(v, 2)).join("  ");
      const where = column ? label.after.replace("{layer}", column - 1) : label.entering;
      return [
        rows[row].text,
        [
          [label.vector, where],
          [label.numbers, `${some} …`],
          ...this.added(row, column, label),
          [label.length, number(this.tiles[column].lengths[row], 3)],
        ],
      ];
    }
    if (kind === "network") {
      const i = layer * n + row;
      return [
        rows[row].text,
        [
          [label.attention, number(values.attention[i], 3)],
          [label.network, number(values.mlp[i], 3)],
        ],
      ];
    }
    if (kind === "entry") {
      const listed = values.top_ids.shape[1];
      const i = this.focus * listed + k;
      if (k === listed) return null;
      return [
        values.top_texts[this.focus][k],
        [
          [label.id, whole(values.top_ids[i])],
          [label.score, number(values.top_logits[i], 4)],
          [label.probability, number(values.top_probabilities[i], 6)],
          ...this.softmaxOf(i, label),
        ],
      ];
    }
    return null;
  }

  // The arithmetic of a cell stands in the card of what is pointed at. A click leaves it open.

  sumOfRow(layer, q, label) {
    const places = this.data.rows.slice(0, q + 1).map((_, k) => this.weight(layer, q, k));
    const before = this.weight(layer, q, -1);
    const parts = before > 0 ? [before, ...places] : places;
    if (parts.length > MOST_PARTS) return [];
    const sum = parts.reduce((a, b) => a + b, 0);
    return [[label.row, `${parts.map((part) => fixed(part, 2)).join(" + ")} = ${fixed(sum, 2)}`]];
  }

  added(row, column, label) {
    if (!column) return [];
    const { vectors } = this.data.values;
    const [, rows, size] = vectors.shape;
    const at = (layer) => vectors[(layer * rows + row) * size];
    const [before, after] = [at(column - 1), at(column)];
    const change = fixed(after - before, 2);
    return [[label.first, `${fixed(before, 2)} + ${change.startsWith("−") ? `(${change})` : change} = ${fixed(after, 2)}`]];
  }

  softmaxOf(i, label) {
    const { top_logits, top_probabilities, top_ids } = this.data.values;
    const best = this.focus * top_ids.shape[1];
    const sum = 1 / top_probabilities[best]; // of e to the power of each score less the highest
    const [score, highest] = [fixed(top_logits[i], 2), fixed(top_logits[best], 2)];
    return [[label.softmax, `e^(${score} − ${highest.startsWith("−") ? `(${highest})` : highest}) ÷ ${fixed(sum, 3)}`]];
  }

  click(event) {
    if (this.drawing) return;
    const at = this.hit(event);
    const again = this.opened && JSON.stringify(this.opened) === JSON.stringify(at);
    this.opened = !again && at && this.data.values && this.tell(at) ? at : null;
    this.showCard(this.opened ?? (event.pointerType === "touch" ? null : at), event);
    this.card.node.classList.toggle("kept", Boolean(this.opened));
    if (at?.layer !== undefined && at.layer !== this.view.layer && ["row", "layer"].includes(at.kind)) return this.chooseLayer(at.layer);
    if (at?.row !== undefined) this.choose(at.row);
  }

  choose(row) {
    if (this.drawing) return;
    const last = this.data.rows.length - 1;
    this.keep({ row: row === this.chosen || row === last ? -1 : row });
    this.style();
  }

  chooseHead(layer, head) {
    this.keep({ heads: this.view.heads.map((h, l) => (l === layer ? head : h)) });
    if (layer !== this.view.layer) this.chooseLayer(layer);
    else this.style();
  }

  chooseLayer(layer, then) {
    this.keep({ layer });
    this.widen(layer, then);
  }

  keep(change) {
    this.view = { ...this.own(), ...change };
    if (!this.player.playing) this.commit();
  }

  // Open one layer wide and let the others draw together.
  widen(layer, then) {
    this.view.layer = layer;
    if (this.drawing) return this.layout(this.width);
    if (this.narrow) {
      this.style();
      return then?.();
    }
    const start = [...this.open];
    const begun = performance.now();
    const calm = isCalm();
    const turn = (this.turn = {});
    const frame = (now) => {
      if (this.turn !== turn) return;
      const t = calm ? 1 : Math.min(1, (now - begun) / 320);
      const eased = 1 - (1 - t) ** 3;
      this.open = start.map((o, l) => o + (Number(l === layer) - o) * eased);
      this.place();
      if (t < 1) requestAnimationFrame(frame);
      else {
        this.style();
        then?.();
      }
    };
    frame(begun);
  }

  go(step) {
    if (!this.built) return;
    const l = Math.floor((step - 3) / 2);
    this.told = true;
    if (step >= 3 && l < this.layers && l !== this.view.layer) this.widen(l);
    this.style();
    if (this.narrow) return this.way.follow(step);
    const p = this.plan;
    const x = step < 3 ? 0 : l < this.layers ? p.layers[l].x - p.chip - 10 : p.width;
    if (p.width > this.width) this.scroll.scrollTo({ left: x, behavior: isCalm() ? "auto" : "smooth" });
  }

  keys(event) {
    if (this.drawing) return;
    const to = { ArrowUp: this.chosen - 1, ArrowDown: this.chosen + 1 }[event.key];
    if (to === undefined) return this.data.values && event.target === this.stage ? this.player.key(event) : undefined;
    const row = Math.max(0, Math.min(this.data.rows.length - 1, to));
    this.keep({ row: row === this.data.rows.length - 1 ? -1 : row });
    this.style();
    event.preventDefault();
    event.stopPropagation();
  }

  destroy() {
    this.player.stop();
    this.commit.cancel();
    this.turn = this.drawing = null;
  }
}
