// What a model was at the step that the curves beside it stand at: what it wrote, where a head looked, how
// its tokens lay. Only some steps kept their weights; the last one before is shown, and said.

import { el, follow, live, sentence, svg } from "../_shared/common.js";
import { curveStore } from "../_shared/curve_store.js";
import { percent, whole } from "../_shared/numbers.js";
import { showWhole } from "../_shared/whole_columns.js";

export default function (component) {
  return live(component, (root, send) => new RunFilm(root, send));
}

const [NARROW, WIDE] = [372, 720]; // below the first, one pane is seen at a time; above the other, all in a row
const [TALL, LEAST, THICK] = [44, 12, 8]; // pixels of an arc: the longest, the shortest, and its whole weight
const FAINT = 0.02; // below this share no arc is drawn
const [HIGH, EDGE] = [210, 14]; // pixels of the plane, and around it

class RunFilm {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.when = el("span", "muted", null, { "aria-live": "polite" });
    this.before = el("button", "tab", null, { type: "button" });
    this.before.onclick = () => this.draw(0);
    const line = el("p", "when");
    line.append(this.when, this.before);
    this.tabs = el("div", "tabs", null, { role: "group" });
    this.panes = ["writes", "looks", "lies"].map((name) => {
      const node = el("section", `pane ${name}`);
      const title = el("h4", null);
      node.append(title);
      return { name, node, title };
    });
    root.append(line, this.tabs, ...this.panes.map(({ node }) => node));
    this.listener = () => this.show();
    curveStore.listeners.add(this.listener);
  }

  destroy() {
    curveStore.listeners.delete(this.listener);
  }

  update(data, width) {
    this.data = data;
    this.head = follow(this, "head", data.head, this.head) ?? 0;
    this.at = null;
    this.asking = Math.min(follow(this, "asking", data.asking, this.asking), (data.tokens?.length ?? 1) - 1);
    this.open = follow(this, "pane", data.pane, this.open);
    const [writes, looks, lies] = this.panes;
    const there = { writes: data.texts, looks: data.cells, lies: data.points };
    for (const pane of this.panes) {
      pane.title.textContent = data.words[pane.name];
      pane.node.replaceChildren(pane.title);
      pane.there = Boolean(there[pane.name]);
    }
    this.tabs.replaceChildren(...this.panes.filter((pane) => pane.there).map((pane) => this.tab(pane)));
    this.texts = writes.node.appendChild(el("ul", "texts"));
    if (data.cells) this.makeHeads(looks.node);
    if (data.points) this.makePlane(lies.node);
    this.layout(width);
  }

  tab({ name }) {
    const tab = el("button", "tab", this.data.words[name], { type: "button", "data-pane": name });
    tab.onclick = () => {
      this.open = name;
      this.layout(this.width);
      this.send("pane", name);
    };
    return tab;
  }

  makeHeads(node) {
    const { names, tokens, words } = this.data;
    this.menu = el("div", "heads", null, { role: "group", "aria-label": words.heads });
    this.menu.append(
      ...names.map((name, h) => {
        const button = el("button", "head num", name, { type: "button" });
        button.onclick = () => {
          this.head = h;
          this.drawHead();
          this.send("head", h);
        };
        return button;
      }),
    );
    this.arcs = svg("svg", { class: "arcs", "aria-hidden": "true", height: TALL + THICK });
    this.line = el("div", "line");
    this.letters = tokens.map((token, at) => {
      const letter = el("button", "letter", token, { type: "button" });
      letter.onclick = () => {
        this.asking = at;
        this.drawHead();
        this.send("asking", at);
      };
      return letter;
    });
    this.line.append(...this.letters);
    this.said = el("p", "said muted");
    const scroll = el("div", "scroll");
    scroll.append(this.arcs, this.line);
    node.append(this.menu, scroll, this.said);
  }

  makePlane(node) {
    const { points, labels, lit, share, words } = this.data;
    this.plane = svg("svg", { class: "plane", height: HIGH, role: "img", "aria-label": words.lies });
    this.dots = labels.map((label, i) => svg("text", { class: lit.includes(i) ? "dot lit" : "dot" }, label));
    this.plane.append(...this.dots);
    node.append(this.plane, el("p", "muted", sentence(words.plane, { share: percent(share, 0) })));
    this.ends = [0, 1].map((axis) => {
      const values = points.filter((_, i) => i % 2 === axis);
      return [Math.min(...values), Math.max(...values)];
    });
  }

  layout(width) {
    this.width = width;
    const narrow = width < NARROW;
    this.tabs.hidden = !narrow;
    this.root.classList.toggle("row", width >= WIDE);
    for (const tab of this.tabs.children) tab.setAttribute("aria-pressed", tab.dataset.pane === this.open);
    for (const pane of this.panes) pane.node.hidden = !pane.there || (narrow && pane.name !== this.open);
    this.at = null;
    this.show();
  }

  // The last kept step that is not behind the scrubber.
  show() {
    const { steps } = this.data ?? {};
    if (!steps) return;
    const { step } = curveStore;
    const after = step === undefined || step < 0 ? steps.length : steps.findIndex((kept) => kept > step);
    this.draw(Math.max(0, (after < 0 ? steps.length : after) - 1));
  }

  draw(at) {
    const { steps, words, texts } = this.data;
    if (at === this.at) return;
    this.at = at;
    // No point of a curve stands before the first step.
    this.before.hidden = steps[0] > 0 || at === 0;
    this.before.textContent = words.before;
    this.when.textContent = sentence(words.when, { step: whole(steps[at]) });
    if (texts) this.texts.replaceChildren(...texts[at].map((text) => el("li", null, text.trim() || words.nothing)));
    this.drawHead();
    this.drawPlane();
  }

  drawHead() {
    const { cells, tokens, names, words } = this.data;
    if (!cells) return;
    const count = tokens.length;
    const from = ((this.at * names.length + this.head) * count + this.asking) * count;
    const shares = tokens.map((_, k) => cells[from + k] / 255);
    [...this.menu.children].forEach((button, h) => button.setAttribute("aria-pressed", h === this.head));
    const middle = (k) => this.letters[k].offsetLeft + this.letters[k].offsetWidth / 2;
    const floor = TALL + THICK / 2;
    const long = Math.max(1, ...tokens.map((_, k) => Math.abs(middle(k) - middle(this.asking))));
    const arcs = shares.map((share, k) => {
      if (share < FAINT || k === this.asking) return null;
      const high = LEAST + (TALL - LEAST) * (Math.abs(middle(k) - middle(this.asking)) / long);
      const [a, b] = [middle(this.asking), middle(k)];
      const d = `M${a} ${floor}C${a} ${floor - high * 1.33},${b} ${floor - high * 1.33},${b} ${floor}`;
      return svg("path", { class: "arc", d, "stroke-width": Math.max(0.8, THICK * share), opacity: 0.3 + 0.6 * share });
    });
    this.arcs.setAttribute("width", this.line.scrollWidth);
    this.arcs.replaceChildren(...arcs.filter(Boolean));
    const best = shares.indexOf(Math.max(...shares));
    this.letters.forEach((letter, k) => {
      letter.style.setProperty("--share", shares[k]);
      letter.classList.toggle("asks", k === this.asking);
      letter.setAttribute("aria-pressed", k === this.asking);
      letter.title = percent(shares[k], 0);
    });
    const told = { head: names[this.head], asking: tokens[this.asking], word: tokens[best], share: percent(shares[best], 0) };
    this.said.textContent = sentence(words.most, told);
    showWhole(this.line.parentNode, this.letters, this.asking);
  }

  drawPlane() {
    const { points, labels } = this.data;
    if (!points || this.panes[2].node.hidden) return;
    const wide = Math.max(120, Math.min(this.plane.parentNode.clientWidth, 420));
    this.plane.setAttribute("width", wide);
    const [xs, ys] = this.ends;
    const unit = Math.min((wide - 2 * EDGE) / (xs[1] - xs[0] || 1), (HIGH - 2 * EDGE) / (ys[1] - ys[0] || 1));
    labels.forEach((_, i) => {
      const [x, y] = points.subarray((this.at * labels.length + i) * 2);
      const left = (wide / 2 + unit * (x - (xs[0] + xs[1]) / 2)).toFixed(1);
      const top = (HIGH / 2 - unit * (y - (ys[0] + ys[1]) / 2)).toFixed(1);
      this.dots[i].style.transform = `translate(${left}px, ${top}px)`;
    });
  }
}
