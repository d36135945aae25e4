// Viterbi's lattice: a column of tags for each word, filled from left to right, then walked back.

import { css, el, follow, inkOn, inks, live, mix, onLeave, rgb, rgbText, styles, svg } from "../_shared/common.js";
import { gridKey } from "../_shared/keys.js";
import { fixed } from "../_shared/numbers.js";
import { makePlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new Lattice(root, send));
}

const SIZE = { left: 62, column: 86, wide: 56, row: 27, high: 21, top: 34 };

class Lattice {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.chosen = null;
    this.told = el("p", "lattice-told", null, { "aria-live": "polite" });
    this.player = makePlayer(root, {
      onStep: (step) => this.draw(step),
      onCommit: (step) => send("step", step),
      pace: 1100,
    });
    this.frame = el("div", "lattice-frame");
    this.sums = el("div", "lattice-sums", null, { role: "status", "aria-live": "polite" });
    root.append(this.told, this.frame, this.sums);
    const node = (event) => event.target.closest?.("[data-at]");
    this.frame.addEventListener("pointerover", (event) => this.open(placeOf(node(event)) ?? this.chosen));
    onLeave(this.frame, () => this.open(this.chosen));
    this.frame.addEventListener("focusin", (event) => this.open(placeOf(node(event))));
    this.frame.addEventListener("click", (event) => this.choose(placeOf(node(event))));
    this.frame.addEventListener("keydown", (event) => this.key(event, placeOf(node(event))));
  }

  update(data) {
    this.data = data;
    const last = data.words.length;
    this.chosen = follow(this, "chosen", data.chosen, this.chosen);
    if (this.chosen && !this.inside(this.chosen)) this.chosen = null;
    const step = follow(this, "step", data.step, this.player.step);
    this.build();
    this.player.configure(last, Math.min(step, last), {
      label: (at) => data.captions[at],
      speeds: [1, 2, 4],
    });
    this.mark();
    this.open(this.chosen);
  }

  inside([t, k]) {
    return t < this.data.words.length && k < this.data.tags.length;
  }

  at(t, k) {
    return t * this.data.tags.length + k;
  }

  x(t) {
    return SIZE.left + t * SIZE.column;
  }

  y(k) {
    return SIZE.top + k * SIZE.row + SIZE.row / 2;
  }

  build() {
    const { words, tags, back, scores, seen, text } = this.data;
    const [width, height] = [this.x(words.length - 1) + SIZE.wide + 6, SIZE.top + tags.length * SIZE.row + 4];
    const picture = svg("svg", { width, height, role: "group", "aria-label": text.label });
    this.edges = [];
    this.nodes = [];
    this.heads = words.map((word, t) => {
      const head = svg("text", { class: seen[t] ? "word" : "word unseen", x: this.x(t) + SIZE.wide / 2, y: 18 }, shortened(word));
      head.append(svg("title", {}, seen[t] ? word : `${word}: ${text.unseen}`));
      picture.append(head);
      return head;
    });
    for (let t = 1; t < words.length; t++) {
      for (let k = 0; k < tags.length; k++) {
        const from = back[this.at(t, k)];
        const [x0, x1] = [this.x(t - 1) + SIZE.wide, this.x(t)];
        const middle = (x0 + x1) / 2;
        const d = `M${x0} ${this.y(from)}C${middle} ${this.y(from)} ${middle} ${this.y(k)} ${x1} ${this.y(k)}`;
        this.edges[this.at(t, k)] = svg("path", { class: "edge", d });
        picture.append(this.edges[this.at(t, k)]);
      }
    }
    for (let t = 0; t < words.length; t++) {
      for (let k = 0; k < tags.length; k++) {
        const group = svg("g", {
          class: "node",
          "data-at": `${t}.${k}`,
          tabindex: -1,
          role: "button",
          transform: `translate(${this.x(t)} ${this.y(k)})`,
          "aria-label": `${words[t]}, ${tags[k]}: ${fixed(scores[this.at(t, k)], 2)}`,
        });
        group.append(svg("rect", { y: -SIZE.high / 2, width: SIZE.wide, height: SIZE.high, rx: 4 }));
        group.append(svg("text", { x: SIZE.wide / 2, y: 4.5 }, fixed(scores[this.at(t, k)], 1)));
        this.nodes[this.at(t, k)] = group;
        picture.append(group);
      }
    }
    const names = el("div", "lattice-tags");
    tags.forEach((tag, k) => {
      const name = el("span", null, tag);
      name.style.top = `${this.y(k)}px`;
      names.append(name);
    });
    names.style.height = `${height}px`;
    const scroller = el("div", "lattice-body");
    scroller.append(names, picture);
    this.frame.replaceChildren(scroller);
    this.layout();
  }

  // The colour of a cell: its probability beside that of the best cell of its column.
  layout() {
    const { words, tags, scores } = this.data;
    const paper = rgb(css(this.root, "--st-background-color") || css(this.root, "--lv-surface"));
    const high = rgb(css(this.root, "--lv-weights"));
    const both = inks(styles(this.root));
    for (let t = 0; t < words.length; t++) {
      const column = Array.from(tags, (_, k) => scores[this.at(t, k)]);
      const best = Math.max(...column);
      column.forEach((score, k) => {
        const color = mix(paper, high, 0.9 * Math.exp((score - best) / 4));
        const [box, text] = this.nodes[this.at(t, k)].children;
        box.style.fill = rgbText(color);
        text.style.fill = rgbText(rgb(inkOn(color, both)));
      });
    }
  }

  draw(step) {
    const { words, tags, path, back, captions } = this.data;
    const ended = step === words.length;
    for (let t = 0; t < words.length; t++) {
      this.heads[t].classList.toggle("now", t === step);
      for (let k = 0; k < tags.length; k++) {
        const i = this.at(t, k);
        const best = ended && path[t] === k;
        this.nodes[i].classList.toggle("later", t > step);
        this.nodes[i].classList.toggle("best", best);
        const edge = this.edges[i];
        if (!edge) continue;
        edge.classList.toggle("later", t > step);
        edge.classList.toggle("now", t === step);
        edge.classList.toggle("best", best && back[i] === path[t - 1]);
      }
    }
    this.told.textContent = captions[step];
    this.reveal(Math.min(step, words.length - 1));
  }

  // The column that is filled stays in sight while it plays.
  reveal(t) {
    const room = this.frame.clientWidth;
    const [from, to] = [this.x(t) - SIZE.left, this.x(t) + SIZE.column];
    if (to > this.frame.scrollLeft + room) this.frame.scrollLeft = to - room;
    else if (from < this.frame.scrollLeft) this.frame.scrollLeft = from;
  }

  mark() {
    for (const node of this.nodes) {
      node.classList.remove("chosen");
      node.setAttribute("tabindex", -1);
    }
    const node = this.nodes[this.chosen ? this.at(...this.chosen) : 0];
    node.setAttribute("tabindex", 0);
    if (this.chosen) node.classList.add("chosen");
  }

  // Write a cell's arithmetic out: every way into it, the best one, and the word's own part.
  open(place) {
    this.sums.replaceChildren();
    if (!place) {
      this.sums.append(el("p", "muted", this.data.text.point));
      return;
    }
    const [t, k] = place;
    const { words, tags, scores, back, emission, transition, start, seen, text } = this.data;
    const i = this.at(t, k);
    const name = `${shortened(words[t])} = ${tags[k]}`;
    this.sums.append(el("p", "lattice-title", name));
    const own = `ln P(${shortened(words[t])} | ${tags[k]}) = ${fixed(emission[i], 2)}`;
    let first = `ln P(${tags[k]} | ${text.start}) = ${fixed(start[k], 2)}`;
    let head = start[k];
    if (t > 0) {
      const from = back[i];
      const ways = Array.from(tags, (_, b) => [scores[this.at(t - 1, b)], transition[b * tags.length + k]]);
      head = ways[from][0] + ways[from][1];
      this.sums.append(this.table(ways, t, k, from));
      first = `${text.largest} = ${fixed(head, 2)} (${text.from} ${tags[from]})`;
    }
    this.sums.append(el("p", "num", first), el("p", "num", own));
    const total = `${fixed(head, 2)} + ${fixed(emission[i], 2).replace("−", "(−")}${emission[i] < 0 ? ")" : ""} = ${fixed(scores[i], 2)}`;
    this.sums.append(el("p", "num lattice-total", total));
    if (!seen[t]) this.sums.append(el("p", "muted", text.unseen));
  }

  table(ways, t, k, best) {
    const { tags, words, text } = this.data;
    const table = el("table", "lattice-ways");
    const head = el("tr");
    const names = [text.before, `${text.score} ${shortened(words[t - 1])}`, `ln P(${tags[k]} | ${text.before})`, text.sum];
    head.append(...names.map((name) => el("th", null, name, { scope: "col" })));
    table.append(head);
    ways.forEach(([score, step], b) => {
      const line = el("tr", b === best ? "best" : "");
      line.append(el("th", null, tags[b], { scope: "row" }));
      line.append(...[score, step, score + step].map((value) => el("td", "num", fixed(value, 2))));
      table.append(line);
    });
    return table;
  }

  choose(place) {
    if (!place) return;
    this.chosen = place;
    this.mark();
    this.open(place);
    this.send("chosen", place);
  }

  key(event, place) {
    if (!place) return;
    const [t, k] = place;
    gridKey(
      event,
      [k, t],
      () => this.choose(place),
      ([tag, word]) => {
        if (Math.min(tag, word) >= 0 && this.inside([word, tag])) this.nodes[this.at(word, tag)].focus();
      },
    );
  }

  destroy() {
    this.player.stop();
  }
}

function placeOf(node) {
  return node ? node.dataset.at.split(".").map(Number) : null;
}

function shortened(word) {
  const signs = [...word];
  return signs.length > 10 ? `${signs.slice(0, 9).join("")}…` : word;
}
