// A tree of vectors: each node is a small picture of its numbers, above the two that it was made of.

import { css, el, fit, follow, live, mix, onLeave, rgb, rgbText, sentence } from "../_shared/common.js";

export default function (component) {
  return live(component, (root, send) => new FusedTree(root, send));
}

const DEEP = 8; // numbers in a column of a node's picture
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] };

class FusedTree {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.tree = el("div", "tree", null, { role: "tree" });
    this.told = el("div", "told", null, { role: "status", "aria-live": "polite" });
    root.append(this.tree, this.told);
    this.chosen = [0, 0];
    this.tree.addEventListener("click", (event) => this.choose(this.placeOf(event)));
    this.tree.addEventListener("mouseover", (event) => this.tell(this.placeOf(event) ?? this.chosen));
    onLeave(this.tree, () => this.tell(this.chosen));
    this.tree.addEventListener("keydown", (event) => this.key(event));
  }

  update(data, width) {
    this.data = data;
    this.chosen = follow(this, "chosen", data.chosen, this.chosen);
    if (!this.node(this.chosen)) this.chosen = data.chosen;
    this.tree.setAttribute("aria-label", data.words.name);
    const leaves = data.levels[0].labels.length;
    this.tree.style.gridTemplateColumns = `repeat(${leaves}, minmax(0, 1fr))`;
    this.nodes = new Map();
    this.tree.replaceChildren();
    for (let level = data.levels.length - 1; level >= 0; level--) this.row(level, 2 ** level);
    this.layout(width);
    this.mark();
    this.tell(this.chosen);
  }

  row(level, span) {
    const { title, shape, labels } = this.data.levels[level];
    const head = el("div", "level", `${title} · ${shape}`);
    head.style.gridColumn = "1 / -1";
    this.tree.append(head);
    labels.forEach((label, at) => {
      const node = el("div", "node", null, { role: "treeitem", "aria-level": level + 1 });
      node.dataset.at = `${level}.${at}`;
      node.style.gridColumn = `span ${span}`;
      node.setAttribute("aria-label", this.line([level, at]));
      const canvas = el("canvas");
      node.append(canvas, el("span", "seen", label));
      this.tree.append(node);
      this.nodes.set(node.dataset.at, { node, canvas });
    });
    if (!level) return;
    for (let at = 0; at < labels.length; at++) {
      const fork = el("div", "fork");
      fork.style.gridColumn = `span ${span}`;
      this.tree.append(fork);
    }
  }

  layout(width) {
    const paper = rgb(css(this.root, "--st-background-color") || css(this.root, "--lv-surface"));
    const [low, high] = ["neg", "pos"].map((end) => rgb(css(this.root, `--lv-value-${end}`)));
    const leaves = this.data.levels[0].labels.length;
    this.data.levels.forEach(({ values }, level) => {
      const [count, size] = values.shape;
      const columns = Math.ceil(size / DEEP);
      const room = (width / leaves) * 2 ** level - 10;
      const cell = Math.max(1, Math.min(6, Math.floor(room / columns)));
      for (let at = 0; at < count; at++) {
        const { canvas } = this.nodes.get(`${level}.${at}`);
        const pen = fit(canvas, columns * cell, Math.min(size, DEEP) * cell);
        for (let k = 0; k < size; k++) {
          const share = Math.max(-1, Math.min(1, values[at * size + k] / this.data.limit));
          pen.fillStyle = rgbText(mix(paper, share < 0 ? low : high, Math.abs(share)));
          pen.fillRect(Math.floor(k / DEEP) * cell, (k % DEEP) * cell, cell, cell);
        }
      }
    });
  }

  node(place) {
    return place && this.data.levels[place[0]]?.labels[place[1]] !== undefined;
  }

  placeOf(event) {
    const node = event.target.closest?.(".node");
    return node ? node.dataset.at.split(".").map(Number) : null;
  }

  line([level, at]) {
    const { title, shape, labels } = this.data.levels[level];
    return sentence(this.data.words.node, { title, shape, seen: labels[at] });
  }

  tell(place) {
    this.told.textContent = place ? this.line(place) : "";
  }

  mark() {
    const chosen = this.chosen.join(".");
    for (const [at, { node }] of this.nodes) {
      node.tabIndex = at === chosen ? 0 : -1;
      node.setAttribute("aria-selected", String(at === chosen));
    }
  }

  choose(place) {
    if (!place) return;
    this.chosen = place;
    this.mark();
    this.tell(place);
    this.send("chosen", place);
  }

  key(event) {
    const place = this.placeOf(event);
    if (!place) return;
    if (event.key === "Enter" || event.key === " ") this.choose(place);
    else if (event.key in STEPS) {
      const [up, right] = STEPS[event.key];
      const to = [place[0] + up, up > 0 ? place[1] >> 1 : up < 0 ? place[1] * 2 : place[1] + right];
      if (!this.node(to)) return;
      this.nodes.get(to.join(".")).node.focus();
      this.tell(to);
    } else return;
    event.preventDefault();
  }
}
