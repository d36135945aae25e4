// The text in one line for each head: arcs go from the token that asks to those that it looks at, as thick
// as the weight, and each token has its share below. A token that is clicked asks; while a head is covered,
// only in its line.

import { el, follow, live, markGhost, sentence, svg } from "../_shared/common.js";
import { percent } from "../_shared/numbers.js";
import { showWhole } from "../_shared/whole_columns.js";
import { worded } from "../_shared/worded.js";

export default function (component) {
  return live(component, (root, send) => new LookBack(root, send));
}

const [TALL, LEAST] = [74, 22]; // pixels of the longest arc, and of the shortest
const THICK = 11; // pixels of an arc that has the whole weight
const FAINT = 0.01; // below this share no arc is drawn

class LookBack {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.lines = el("div", "lines");
    this.told = el("p", "told muted", null, { "aria-live": "polite" });
    root.append(this.lines, this.told);
    this.lines.addEventListener("click", (event) => this.ask(event.target.closest("[data-at]")));
    this.lines.addEventListener("keydown", (event) => this.keys(event));
  }

  update(data, width) {
    this.data = data;
    this.asking = follow(this, "asking", data.asking, this.asking) ?? data.asking;
    if (this.asking >= data.tokens.length) this.asking = data.asking;
    this.heads = data.names.map((name, h) => this.head(name, h));
    this.lines.classList.toggle(
      "letters",
      data.tokens.every((token) => token.length < 3),
    );
    this.lines.style.setProperty("--many", data.tokens.length);
    this.lines.replaceChildren(...this.heads.map(({ node }) => node));
    const [head, at] = data.ghost ?? [];
    markGhost(this.root, this.heads[head]?.words[at]);
    this.layout(width);
  }

  head(name, h) {
    const node = el("div", "head", null, { role: "group", "aria-label": name });
    const arcs = svg("svg", { class: "arcs", "aria-hidden": "true" });
    const text = el("div", "text");
    const words = this.data.tokens.map((token, at) => {
      const word = el("button", "word", null, { type: "button", "data-at": at, "data-head": h });
      word.append(el("span", "token", token), el("span", "share num"));
      return word;
    });
    text.append(...words);
    const said = el("div", "said");
    node.append(said, arcs, text);
    return { node, arcs, text, words, said };
  }

  share(h, at) {
    const count = this.data.tokens.length;
    return this.data.cells[(h * count + this.asking) * count + at] / 255;
  }

  layout() {
    const { data } = this;
    const { tokens, names, words } = data;
    const spoken = (at) => tokens[at].replace(/^·(?=.)/, "");
    const told = [];
    const shares = names.map((_, h) => tokens.map((_, at) => this.share(h, at)));
    this.lines.classList.remove("tight");
    this.lines.style.setProperty("--room", `${this.lines.clientWidth - 4}px`);
    for (const [h, head] of this.heads.entries()) {
      const most = shares[h].indexOf(Math.max(...shares[h]));
      const waits = data.covered.includes(h);
      const line = waits
        ? words.waits
        : sentence(words.most, { asking: spoken(this.asking), word: spoken(most), share: percent(shares[h][most], 0) });
      told.push(worded("{name}: {text}", { name: names[h], text: line }));
      head.said.replaceChildren(el("b", null, names[h]), el("span", "muted", worded("{name}: {text}", { text: line })));
      for (const [at, word] of head.words.entries()) {
        const asks = at === this.asking;
        const share = percent(shares[h][at], 0);
        word.lastChild.textContent = shares[h][at] >= FAINT ? share : "";
        word.classList.toggle("asks", asks);
        word.setAttribute("aria-pressed", asks);
        word.setAttribute(
          "aria-label",
          asks ? sentence(words.asks, { word: spoken(at) }) : worded("{name}: {text}", { name: spoken(at), text: share }),
        );
        word.style.setProperty("--share", shares[h][at]);
        word.tabIndex = asks && h === 0 ? 0 : -1;
      }
    }
    // Where a text scrolls, its words stand closer, so that both ends of an arc are in view together.
    this.lines.classList.toggle("tight", this.lines.scrollWidth > this.lines.clientWidth + 1);
    for (const [h, head] of this.heads.entries()) this.arcs(head, shares[h]);
    this.told.textContent = told.join(" ");
    showWhole(this.lines, this.heads[0].words, this.asking);
    this.lines.style.setProperty("--room", `${this.lines.clientWidth - 4}px`);
  }

  arcs({ arcs, text, words }, shares) {
    const middle = (at) => words[at].offsetLeft - text.offsetLeft + words[at].offsetWidth / 2;
    const long = Math.max(...words.map((_, at) => Math.abs(middle(at) - middle(this.asking))), 1);
    arcs.setAttribute("width", text.scrollWidth);
    arcs.setAttribute("height", TALL + THICK / 2);
    const floor = TALL + THICK / 2;
    const drawn = shares.map((share, at) => {
      if (share < FAINT) return null;
      const [from, to] = [middle(this.asking), middle(at)];
      const high = LEAST + (TALL - LEAST) * (Math.abs(from - to) / long);
      const path =
        at === this.asking
          ? `M${from - 7} ${floor}C${from - 16} ${floor - LEAST},${from + 16} ${floor - LEAST},${from + 7} ${floor}`
          : `M${from} ${floor}C${from} ${floor - high * 1.33},${to} ${floor - high * 1.33},${to} ${floor}`;
      return svg("path", { class: "arc", d: path, "stroke-width": Math.max(0.8, THICK * share), opacity: 0.3 + 0.6 * share });
    });
    arcs.replaceChildren(...drawn.filter(Boolean));
  }

  ask(word) {
    const { covered } = this.data;
    if (!word || (covered.length && !covered.includes(Number(word.dataset.head)))) return;
    this.asking = Number(word.dataset.at);
    this.layout();
    this.send("asking", this.asking);
  }

  // One token is in the tab order; arrows move from it, and Enter lets the next one ask.
  keys(event) {
    const word = event.target.closest("[data-at]");
    if (!word) return;
    const [h, at] = [Number(word.dataset.head), Number(word.dataset.at)];
    const last = this.data.tokens.length - 1;
    const moves = {
      ArrowLeft: [h, at - 1],
      ArrowRight: [h, at + 1],
      ArrowUp: [h - 1, at],
      ArrowDown: [h + 1, at],
      Home: [h, 0],
      End: [h, last],
    };
    const to = moves[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.heads[to[0]]?.words[to[1]];
    if (!next) return;
    word.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}
