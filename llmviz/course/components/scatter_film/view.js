// A map of points that moves from frame to frame. Zoom, choice of kinds and step stay when the data
// change; between two neighbouring frames the points move in straight lines.

import { eachFrame, el, follow, isCalm, live, remember, remembered } from "../_shared/common.js";
import { whole } from "../_shared/numbers.js";
import { makePlayer } from "../_shared/player.js";
import { handOn } from "./hand.js";
import { ScatterMap } from "./map.js";
import { FilmCurve, KindLegend, NearLists } from "./side.js";

const acts = new WeakMap();
const GLIDE = 380; // ms

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const act = (what) => acts.get(component.parentElement)("act", what);
  return live(component, (root, send) => new ScatterFilm(root, send, act));
}

class ScatterFilm {
  constructor(root, send, act) {
    this.root = root;
    this.send = send;
    this.act = act;
    this.map = new ScatterMap(root);
    this.player = makePlayer(root, {
      onStep: (step) => this.go(step),
      onCommit: (step) => this.commit(step),
      pace: 600,
    });
    this.caption = el("div", "caption num", null, { "aria-live": "polite" });
    this.tools = this.makeTools();
    this.field = el("div", "field");
    this.card = el("div", "note");
    this.card.hidden = true;
    this.field.append(this.map.canvas, this.card);
    this.lists = new NearLists((i) => act({ drop: i }));
    this.curve = new FilmCurve(root, (step) => this.player.move(step));
    this.legend = new KindLegend((kinds) => {
      this.lit = new Set(kinds);
      act({ lit: kinds });
      this.paint();
      this.legend.draw(this.data, this.lit);
    });
    const main = el("div", "main");
    main.append(this.tools, this.field, this.legend.box);
    const side = el("div", "side");
    side.append(this.lists.box, this.curve.box);
    this.stage = el("div", "stage");
    this.stage.append(main, side);
    root.append(this.caption, this.stage);
    this.hover = -1;
    this.matches = null;
    this.at = null;
    this.paint = eachFrame(() => this.draw());
    handOn(this);
  }

  makeTools() {
    const bar = el("div", "tools");
    this.find = el("input", "find", null, { type: "search", autocomplete: "off", spellcheck: "false" });
    this.count = el("span", "muted found", null, { "aria-live": "polite" });
    const button = (text, name, work) => {
      const node = el("button", "tool", text, { type: "button" });
      node.onclick = () => (work(), this.paint());
      node.dataset.name = name;
      return node;
    };
    this.buttons = [
      button("−", "out", () => this.map.zoom(1 / 1.5)),
      button("+", "in", () => this.map.zoom(1.5)),
      button("⌂", "whole", () => this.map.whole()),
    ];
    bar.append(this.find, this.count, el("span", "gap"), ...this.buttons);
    this.find.oninput = () => this.search();
    this.find.onkeydown = (event) => {
      if (event.key === "Enter" && this.matches?.size) this.pick([...this.matches][0]);
      if (event.key === "Escape") this.find.value = "";
      if (event.key === "Enter" || event.key === "Escape") this.search();
    };
    return bar;
  }

  search() {
    remember(this.root, "find", this.find.value);
    const text = this.find.value.trim().toLowerCase();
    this.matches = null;
    if (text) {
      const labels = this.data.labels.map((label) => label.toLowerCase());
      const rank = (label) => (label === text ? 0 : label.startsWith(text) ? 1 : label.includes(text) ? 2 : 3);
      const hits = labels.map((label, i) => [rank(label), i]).filter(([r]) => r < 3);
      this.matches = new Set(hits.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, i]) => i));
    }
    const { found, lost } = this.data.words;
    const n = this.matches?.size;
    const message = n === 0 && lost ? lost.replace("{n}", whole(this.data.labels.length)) : found.replace("{n}", whole(n ?? 0));
    this.count.textContent = this.matches ? message : "";
    this.paint();
  }

  pick(i) {
    if (this.data.near.some((near) => near.point === i)) this.act({ drop: i });
    else this.act({ pick: i });
    if (this.find.value) {
      this.find.value = "";
      this.search();
    }
  }

  look(i) {
    this.hover = i;
    this.card.hidden = i < 0;
    if (i >= 0) {
      const kind = this.data.kinds[i];
      const lines = [this.data.kindNames[kind], this.data.notes[i]].filter(Boolean);
      this.card.replaceChildren(el("strong", null, this.data.labels[i]), ...lines.map((text) => el("div", "muted", text)));
    }
    this.paint();
  }

  update(data, width) {
    const before = this.data;
    const atEnd = !before || this.player.step >= this.player.last;
    this.data = data;
    this.map.take(data);
    if (!before) this.map.view = remembered(this.root, "camera", this.map.n);
    if (!before || JSON.stringify(before.lit) !== JSON.stringify(data.lit)) this.lit = new Set(data.lit);
    if (before && before.points.shape[1] !== data.points.shape[1]) {
      this.hover = -1;
      this.card.hidden = true;
      this.map.whole();
      this.search();
    }
    this.setWords(data.words);
    if (!before) this.find.value = remembered(this.root, "find") ?? "";
    if (!before && this.find.value) this.search();
    this.card.hidden = this.hover < 0;
    const last = data.points.shape[0] - 1;
    const wanted = follow(this, "step", data.step, atEnd ? -1 : this.player.step); // -1: the last
    const step = wanted < 0 ? last : Math.min(last, wanted);
    this.player.bar.hidden = last === 0;
    this.size(width);
    // A film that grew by a frame glides there; a single map that is drawn anew glides into place.
    const same = before && before.labels.join("\n") === data.labels.join("\n");
    const glide = same && (step === this.player.step + 1 || (last === 0 && before.points.shape[0] === 1));
    this.quiet = !glide;
    if (this.player.last === last && this.player.step === step) this.go(step);
    else this.player.configure(last, step, { speeds: [1, 2, 4], label: (k) => this.data.captions[k] ?? `${k}` });
    this.quiet = false;
    this.legend.draw(data, this.lit);
  }

  setWords(words) {
    this.find.hidden = !words.find;
    this.find.placeholder = words.find;
    this.find.setAttribute("aria-label", words.find);
    this.map.canvas.setAttribute("aria-label", words.map);
    for (const button of this.buttons) {
      const name = words[button.dataset.name];
      button.setAttribute("aria-label", name);
      button.title = name;
    }
  }

  layout(width) {
    this.size(width);
    this.draw();
    this.curve.draw(this.data.curve, this.drawn ?? 0, this.sideWidth);
    this.legend.draw(this.data, this.lit);
  }

  size(width) {
    const narrow = width < 720;
    this.stage.classList.toggle("narrow", narrow);
    const main = narrow ? width : width - 250;
    this.sideWidth = narrow ? width : 226;
    this.map.resize(main, Math.round(Math.min(narrow ? main * 1.05 : 600, Math.max(320, main * 0.72))));
    this.map.palette();
  }

  go(step) {
    const target = this.map.frame(step);
    const far = this.quiet || !this.at || this.at.length !== target.length || Math.abs(step - (this.drawn ?? step)) > 1;
    const still = isCalm();
    this.drawn = step;
    this.caption.textContent = this.data.captions[step] ?? "";
    this.caption.hidden = !this.data.captions.length;
    this.lists.draw(this.data, step);
    this.curve.draw(this.data.curve, step, this.sideWidth);
    cancelAnimationFrame(this.moving);
    if (far || still) {
      this.at = Float32Array.from(target);
      return this.paint();
    }
    const from = this.at;
    const start = performance.now();
    const time = Math.min(GLIDE, (600 / this.player.factor) * 0.8);
    const slide = (now) => {
      const t = Math.min(1, (now - start) / time);
      const ease = t * t * (3 - 2 * t);
      this.at = from.map((v, i) => v + (target[i] - v) * ease);
      this.draw();
      if (t < 1) this.moving = requestAnimationFrame(slide);
    };
    this.moving = requestAnimationFrame(slide);
  }

  draw() {
    if (!this.at) return;
    remember(this.root, "camera", this.map.view, this.map.n);
    const many = this.data.points.shape[0] > 1;
    this.map.draw({
      step: this.player.step,
      at: this.at,
      lit: this.lit,
      chosen: this.data.near,
      hover: this.hover,
      matches: this.matches,
      trails: many,
    });
  }

  commit(step) {
    this.send("step", step >= this.player.last ? -1 : step);
  }

  destroy() {
    this.player.stop();
    cancelAnimationFrame(this.moving);
  }
}
