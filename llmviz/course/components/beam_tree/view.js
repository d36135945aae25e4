// The tree of a beam search from left to right, one depth a step of the player.

import { el, live, makeCard, onLeave, remember, remembered, svg } from "../_shared/common.js";
import { fixed, number, percent, whole } from "../_shared/numbers.js";
import { makePlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root) => new BeamTree(root));
}

const GRID = { row: 25, top: 14, gap: 46, high: 20 };

class BeamTree {
  constructor(root) {
    this.root = root;
    this.player = makePlayer(root, { onStep: (step) => this.draw(step), onCommit: () => {}, pace: 1200 });
    this.told = el("p", "told", null, { "aria-live": "polite" });
    this.frame = el("div", "frame");
    this.legend = el("div", "legend");
    root.append(this.told, this.frame, this.legend);
    this.card = makeCard(root);
    this.frame.addEventListener("pointerover", (e) => this.point(e.target.closest("[data-node]")));
    onLeave(this.frame, () => this.card.hide());
    this.frame.addEventListener("focusin", (e) => this.point(e.target.closest("[data-node]")));
    this.frame.addEventListener("focusout", () => this.card.hide());
  }

  update(data) {
    this.data = data;
    this.best = new Set();
    for (let at = data.finals[0]; at !== null && at !== undefined; at = data.parents[at]) this.best.add(at);
    this.place();
    this.build();
    const last = data.captions.length - 1;
    this.player.configure(last, remembered(this.root, "step", this.grown()) ?? last, { label: (k) => data.captions[k] });
  }

  // What the step is one of.
  grown() {
    return JSON.stringify([this.data.texts, this.data.parents, this.data.captions]);
  }

  // Columns as wide as their longest token; rows in the order of a walk, likelier children first.
  place() {
    const { parents, texts, depths, total } = this.data;
    const n = texts.length;
    const children = texts.map(() => []);
    for (let i = 1; i < n; i++) children[parents[i]].push(i);
    for (const list of children) list.sort((a, b) => total[b] - total[a]);
    const widest = [];
    this.wide = texts.map((text, i) => {
      const wide = [...text].length * 8.2 + 16;
      widest[depths[i]] = Math.max(widest[depths[i]] ?? 0, wide);
      return wide;
    });
    const left = [];
    let x = 4;
    for (let d = 0; d < widest.length; d++) {
      left[d] = x;
      x += widest[d] + GRID.gap;
    }
    this.x = depths.map((d) => left[d]);
    this.y = new Array(n);
    let row = 0;
    const walk = (i) => {
      if (!children[i].length) this.y[i] = GRID.top + GRID.row * row++;
      else {
        children[i].forEach(walk);
        // On the row of the most probable child, so that the line of the best one is straight.
        this.y[i] = this.y[children[i][0]];
      }
    };
    walk(0);
    this.size = [x + 96, GRID.top + GRID.row * row];
  }

  build() {
    const { parents, texts, statuses, finals, score, own } = this.data;
    const [width, height] = this.size;
    const picture = svg("svg", { width, height, role: "img", "aria-label": this.data.captions.at(-1) });
    this.arms = [];
    this.nodes = [];
    for (let i = 1; i < texts.length; i++) {
      const from = this.x[parents[i]] + this.wide[parents[i]];
      const [y0, y1, to] = [this.y[parents[i]], this.y[i], this.x[i]];
      const bend = from + 18;
      const r = Math.min(8, Math.abs(y1 - y0) / 2);
      const d =
        y1 === y0
          ? `M${from} ${y0}H${to}`
          : `M${from} ${y0}H${bend - r}Q${bend} ${y0} ${bend} ${y0 + r}V${y1 - r}Q${bend} ${y1} ${bend + r} ${y1}H${to}`;
      this.arms[i] = svg("path", { class: "arm", d });
      picture.appendChild(this.arms[i]);
    }
    texts.forEach((text, i) => {
      const group = svg("g", { class: "node", "data-node": i, tabindex: 0, transform: `translate(${this.x[i]} ${this.y[i]})` });
      group.appendChild(svg("rect", { y: -GRID.high / 2, width: this.wide[i], height: GRID.high, rx: 5 }));
      group.appendChild(svg("text", { x: this.wide[i] / 2, y: 4.5, class: "word" }, text));
      if (i) group.appendChild(svg("text", { x: -4, y: -4, class: "own" }, fixed(own[i], 2)));
      const place = finals.indexOf(i);
      if (place >= 0) {
        group.appendChild(svg("text", { x: this.wide[i] + 8, y: 4.5, class: "final" }, `${place + 1}. ${number(score[i], 2)}`));
      }
      this.nodes[i] = group;
      picture.appendChild(group);
    });
    this.statuses = statuses;
    this.frame.replaceChildren(picture);
    const { words } = this.data;
    this.legend.replaceChildren(
      ...[
        ["best", words.best],
        ["living", words.kept],
        ["pruned", words.pruned],
        ["abandoned", words.abandoned],
      ].map(([name, text]) => {
        const item = el("span", "item");
        item.append(el("span", `swatch ${name}`), text);
        return item;
      }),
    );
  }

  draw(k) {
    const { depths, captions } = this.data;
    remember(this.root, "step", k, this.grown());
    const last = k === captions.length - 1;
    this.nodes.forEach((node, i) => {
      const status = this.statuses[i];
      const later = depths[i] > k;
      for (const one of [node, this.arms[i]]) {
        if (!one) continue;
        one.classList.toggle("later", later);
        one.classList.toggle("pruned", status === "pruned");
        one.classList.toggle("abandoned", status === "abandoned" && last);
        one.classList.toggle("finished", status === "finished");
        one.classList.toggle("best", last && this.best.has(i));
      }
      node.querySelector(".final")?.classList.toggle("later", !last);
    });
    this.told.textContent = captions[k];
  }

  point(node) {
    if (!node || node.classList.contains("later")) return this.card.hide();
    const i = Number(node.dataset.node);
    const { data } = this;
    const pairs = [];
    if (i) {
      pairs.push(["probability", percent(data.p[i], 2)], ["log-probability", number(data.own[i], 3)]);
      pairs.push(["sum so far", number(data.total[i], 3)], ["score", number(data.score[i], 3)]);
      pairs.push(["status", data.words[data.statuses[i]] ?? data.statuses[i]]);
    }
    const hidden = data.hidden[i];
    if (hidden) pairs.push(["not drawn after it", `${whole(hidden[0])} tokens, ${percent(hidden[1])}`]);
    this.card.show(node, data.texts[i], pairs);
  }

  destroy() {
    this.player.stop();
  }
}
