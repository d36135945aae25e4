// A text as it grows. Python computes the tokens; the browser reveals them, so that writing can be
// stopped at any of them, and asks for more before it runs out.

import {
  css,
  el,
  inkOn,
  inks,
  later,
  live,
  makeCard,
  mix,
  onLeave,
  remember,
  remembered,
  rgb,
  rgbText,
  styles,
  Told,
} from "../_shared/common.js";
import { makeHand } from "../_shared/guess.js";
import { chance, number, whole } from "../_shared/numbers.js";

const acts = new WeakMap();

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const act = (what) => acts.get(component.parentElement)("act", what);
  return live(component, (root) => new Writer(root, act));
}

const PACE = 17; // milliseconds a token while writing
const AHEAD = 60; // tokens to have ready

class Writer {
  constructor(root, act) {
    this.root = root;
    this.act = act;
    this.length = 0;
    this.open = null;
    this.guess = null;
    this.bar = el("div", "bar-line");
    this.one = el("button", "press", null, { type: "button" });
    this.run = el("button", "press strong", null, { type: "button" });
    this.clear = el("button", "press", null, { type: "button" });
    this.count = el("span", "count num muted", null, { "aria-live": "off" });
    this.bar.append(this.one, this.run, this.clear, this.count);
    this.text = el("div", "text", null, { role: "group", tabindex: 0 });
    this.scale = el("div", "scale");
    this.note = el("p", "note", null, { "aria-live": "polite" });
    this.panel = el("div", "panel");
    this.ways = el("div", "ways");
    this.hand = makeHand(() => act({ guess: this.guess }));
    root.append(this.bar, this.text, this.hand.node, this.scale, this.note, this.panel, this.ways);
    this.card = makeCard(root);
    this.told = new Told(); // lengths
    // Python hears where the text rests once the hand does.
    this.settle = later(() => this.tell({}), 350);
    this.one.onclick = () => this.step();
    this.run.onclick = () => (this.running ? this.stop() : this.start());
    this.clear.onclick = () => {
      this.stop(true);
      this.settle.cancel();
      this.length = 0;
      this.open = null;
      this.draw();
      this.act({ clear: true });
    };
    this.text.addEventListener("pointerover", (e) => this.point(e.target.closest("[data-at]")));
    onLeave(this.text, () => this.card.hide());
    this.text.addEventListener("click", (e) => this.pick(e.target.closest("[data-at]")));
    this.text.addEventListener("keydown", (e) => this.keys(e));
  }

  update(data) {
    const before = this.data;
    // Another way or another text: what the hand did before does not hold for it.
    const shared = before ? Math.min(before.ids.length, data.ids.length, Math.max(this.length, data.length)) : 0;
    let other = !before || before.prompt !== data.prompt || before.way !== data.way;
    for (let i = 0; i < shared && !other; i++) other = before.ids[i] !== data.ids[i] || before.p[i] !== data.p[i];
    const moved = before && this.told.moved(data.length, before.length);
    this.data = data;
    if (other || moved) {
      if (before) this.stop(true);
      this.settle.cancel();
      this.length = data.length;
      this.told = new Told();
      this.open = before ? null : remembered(this.root, "open", this.written());
    }
    this.length = Math.min(this.length, data.ids.length);
    if (other) this.drawn = 0;
    const { words } = data;
    this.one.textContent = words.one;
    this.clear.textContent = words.clear;
    this.bar.hidden = !data.controls;
    this.text.classList.toggle("large", data.controls);
    if (!data.asks) this.guess = null;
    this.hand.show(words, data.asks, this.guess !== null);
    if (before?.veiled !== data.veiled || before?.least !== data.least) this.drawn = 0;
    this.draw();
    if (this.waiting && this.length < data.ids.length) this.advance();
  }

  // What the open token is one of.
  written() {
    const { prompt, way, ids } = this.data;
    return [prompt, way, ...ids].join();
  }

  done() {
    return this.length >= this.data.limit || (this.data.ended && this.length >= this.data.ids.length);
  }

  // One more token, if it is known; otherwise as soon as it is.
  advance(quiet) {
    if (this.length < this.data.ids.length && !this.done()) {
      this.length += 1;
      this.waiting = false;
      if (!quiet || this.length === this.data.ids.length) this.draw();
    } else this.waiting = !this.done();
    const ready = this.data.ids.length - this.length;
    if (ready < AHEAD / 2 && !this.data.ended && this.asked !== this.data.ids.length && this.data.ids.length < this.data.limit) {
      this.asked = this.data.ids.length;
      this.tell({ want: Math.min(this.data.limit, this.data.ids.length + AHEAD) });
    }
  }

  step() {
    this.stop(true);
    this.advance();
    this.settle();
  }

  start() {
    if (this.done()) return;
    this.running = true;
    this.open = null;
    this.since = performance.now();
    this.tick();
    this.label();
  }

  tick() {
    if (!this.running) return;
    // As many as the time asks for: a slow screen must not slow the text down.
    const due = Math.min(8, Math.floor((performance.now() - this.since) / PACE));
    this.since = Math.max(this.since + due * PACE, performance.now() - 8 * PACE);
    for (let i = 0; i < due && !this.done() && !this.waiting; i++) this.advance(i + 1 < due);
    if (this.waiting) this.advance();
    if (this.done()) return this.stop();
    this.timer = setTimeout(() => this.tick(), PACE);
  }

  stop(quiet) {
    clearTimeout(this.timer);
    const was = this.running;
    this.running = false;
    this.waiting = false;
    if (this.data) this.label();
    if (was && !quiet) this.settle();
  }

  // Tell Python where the text rests.
  tell(more) {
    this.told.say(this.length);
    this.act({ ...more, length: this.length });
  }

  label() {
    const { words } = this.data;
    this.run.textContent = this.running ? words.stop : words.run;
    this.run.disabled = !this.running && this.done();
    this.one.disabled = this.done();
    this.clear.disabled = !this.length && this.data.ways.length < 2;
    this.count.textContent = `${whole(this.length)} / ${whole(this.data.limit)}`;
  }

  draw() {
    const { data } = this;
    const from = this.drawn && this.drawn <= this.length && this.text.childElementCount === this.drawn + 1 ? this.drawn : 0;
    if (!from) this.text.replaceChildren(el("span", "prompt", data.prompt));
    const paper = rgb(css(this.root, "--paper"));
    const full = rgb(css(this.root, "--lv-weights"));
    const both = inks(styles(this.root));
    const shade = (p) => mix(paper, full, 0.06 + 0.74 * p);
    this.drawScale(rgbText(shade(0)), rgbText(shade(1)));
    for (let i = from; i < this.length; i++) {
      const node = el("span", "tok", data.texts[i], { "data-at": i });
      const fill = shade(data.p[i]);
      if (!data.veiled) {
        node.style.background = rgbText(fill);
        node.style.color = inkOn(fill, both);
      }
      if (data.least === i) {
        node.classList.add("least");
        node.title = data.words.least;
      }
      if (data.chosen[i]) node.classList.add("chosen");
      if (data.slidesAt === i) node.classList.add("slides");
      this.text.appendChild(node);
    }
    this.drawn = this.length;
    remember(this.root, "open", this.open, this.written());
    [...this.text.children].forEach((node, i) => node.classList.toggle("open", i === this.open + 1 && this.open !== null));
    const end = data.ended && this.length >= data.ids.length && data.ids.length;
    const full200 = !end && this.length >= data.limit;
    const slid = data.slidesAt !== null && this.length > data.slidesAt;
    this.note.textContent = [
      !this.length && data.controls ? data.words.nothing : "",
      end ? data.words.ended : "",
      full200 && data.controls ? data.words.full : "",
      slid ? data.words.slid : "",
    ]
      .filter(Boolean)
      .join(" ");
    this.label();
    this.drawPanel();
    this.drawWays();
  }

  drawScale(none, sure) {
    const ramp = el("span", "ramp");
    ramp.style.background = `linear-gradient(90deg, ${none}, ${sure})`;
    this.scale.hidden = !this.length || this.data.veiled;
    this.scale.replaceChildren(this.data.words.scale, el("span", "num", "0"), ramp, el("span", "num", "1"));
  }

  point(node) {
    if (!node || this.open !== null || this.data.veiled) return this.card.hide();
    const i = Number(node.dataset.at);
    const { data } = this;
    const pairs = [
      ["probability", chance(data.p[i])],
      ["rank", whole(data.rank[i])],
    ];
    if (data.entropy) pairs.push(["entropy", `${number(data.entropy[i], 2)} nats`]);
    if (data.chosen[i]) pairs.push(["chosen", "by you"]);
    else pairs.push(["chance in the draw", chance(data.chance[i])], ["u", number(data.u[i], 4)]);
    const others = data.alternatives[i].filter(([id]) => id !== data.ids[i]).slice(0, 3);
    for (const [, text, p] of others) pairs.push([`or ${text}`, chance(p)]);
    this.card.show(node, data.texts[i], pairs);
  }

  pick(node) {
    if (!node || !this.data.controls) return;
    const i = Number(node.dataset.at);
    this.stop();
    if (this.data.veiled) return this.suppose(i);
    this.open = this.open === i ? null : i;
    this.card.hide();
    this.draw();
  }

  // The token that the hand takes for the hardest.
  suppose(i) {
    if (!this.data.asks) return;
    this.guess = i;
    this.hand.ready(true);
    [...this.text.children].forEach((node, n) => node.classList.toggle("guess", n === i + 1));
  }

  keys(event) {
    const { veiled } = this.data;
    const i = (veiled ? this.guess : this.open) ?? -1;
    const to = { ArrowRight: Math.min(this.length - 1, i + 1), ArrowLeft: Math.max(0, i - 1), Escape: null }[event.key];
    if (to === undefined || !this.length || !this.data.controls) return;
    this.stop();
    if (!veiled) this.open = to;
    else if (to !== null) this.suppose(to);
    this.draw();
    event.preventDefault();
    event.stopPropagation();
  }

  drawPanel() {
    const i = this.open;
    if (i === null || i >= this.length) return this.panel.replaceChildren();
    const { data } = this;
    const list = el("div", "choices");
    const rows = data.alternatives[i].some(([id]) => id === data.ids[i])
      ? data.alternatives[i]
      : [...data.alternatives[i], [data.ids[i], data.texts[i], data.p[i]]];
    for (const [id, text, p] of rows) {
      const here = id === data.ids[i];
      const button = el("button", here ? "choice here" : "choice", null, { type: "button", "data-id": id });
      const bar = el("span", "level");
      bar.style.width = `${100 * p}%`;
      button.append(bar, el("span", "word", text), el("span", "num", chance(p)));
      button.disabled = here;
      button.onclick = () => this.act({ choose: i, id });
      list.appendChild(button);
    }
    const facts = [`rank ${whole(data.rank[i])}`];
    if (data.entropy) facts.push(`entropy ${number(data.entropy[i], 2)} nats`);
    if (!data.chosen[i]) facts.push(`u ${number(data.u[i], 4)}`);
    const title = el("div", "panel-title");
    title.append(data.words.alternatives, el("span", "num muted", `  ${facts.join(" · ")}`));
    this.panel.replaceChildren(title, list);
  }

  drawWays() {
    const { ways, way, words } = this.data;
    if (ways.length < 2) return this.ways.replaceChildren();
    const depth = [];
    const order = [];
    const visit = (n, d) => {
      depth[n] = d;
      order.push(n);
      ways.forEach((one, m) => m && one.parent === n && visit(m, d + 1));
    };
    visit(0, 0);
    const rows = order.map((n) => {
      const row = el("button", n === way ? "way here" : "way", null, { type: "button", "data-way": n });
      row.style.paddingLeft = `${8 + 22 * depth[n]}px`;
      if (depth[n]) row.appendChild(el("span", "elbow", "└"));
      row.appendChild(el("span", "muted num", n ? `after ${whole(ways[n].at)}` : words.trunk));
      row.appendChild(el("span", "snippet", ways[n].text || "…"));
      row.onclick = () => n !== way && this.act({ way: n });
      return row;
    });
    this.ways.replaceChildren(el("div", "panel-title", words.tree), ...rows);
  }

  layout() {
    this.drawn = 0;
    this.draw();
  }

  destroy() {
    clearTimeout(this.timer);
    this.settle.cancel();
  }
}
