// A computation as a graph: every node is its matrix in small, with its gradient beneath.

import { el, follow, live, makeCard, onLeave, svg } from "../_shared/common.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new GraphView(root, send));
}

const UNIT = 11; // a cell of a matrix, in the drawing's own units
const EDGE_ROOM = 6;

class GraphView {
  constructor(root, send) {
    this.root = root;
    this.player = stepPlayer(root, send, () => this.paint(), 1100);
    this.caption = el("p", "caption", null, { "aria-live": "polite" });
    this.field = el("div", "field");
    this.legend = el("div", "legend");
    root.append(this.caption, this.field, this.legend);
    this.card = makeCard(root);
  }

  update(data, width) {
    this.data = data;
    this.nodes = new Map(data.nodes.map((node) => [node.name, node]));
    this.layout(width);
    const last = data.steps.length - 1;
    const step = Math.max(0, Math.min(follow(this, "step", data.step, this.player.step), last));
    this.player.stand(last, step, { label: (k) => data.steps[k].caption });
    this.paint();
  }

  // How large a node is, its label and both matrices included.
  size(node) {
    const [rows, cols] = node.value.shape;
    const tall = rows * UNIT + (node.gradient ? rows * UNIT + 4 : 0);
    return [cols * UNIT, tall];
  }

  layout(width) {
    this.width = width;
    const { nodes, edges } = this.data;
    const ends = nodes.map((node) => [node.x + this.size(node)[0] / 2 + 24, node.y + this.size(node)[1] / 2 + 30]);
    const wide = Math.max(...ends.map((end) => end[0]));
    const tall = Math.max(...ends.map((end) => end[1]));
    this.wide = wide;
    const displayed = Math.max(800, width);
    const picture = svg("svg", { viewBox: `0 0 ${wide} ${tall}`, width: displayed, height: (displayed * tall) / wide, role: "group" });
    this.lines = edges.map(([from, to]) => {
      const [a, b] = [this.nodes.get(from), this.nodes.get(to)];
      const [ax, bx] = [a.x + this.size(a)[0] / 2 + EDGE_ROOM, b.x - this.size(b)[0] / 2 - EDGE_ROOM];
      const mid = (ax + bx) / 2;
      const path = bx > ax ? `M${ax} ${a.y}C${mid} ${a.y} ${mid} ${b.y} ${bx} ${b.y}` : this.upright(a, b);
      const line = svg("path", { class: "edge", d: path });
      picture.appendChild(line);
      return { from, to, line };
    });
    this.boxes = new Map(nodes.map((node) => [node.name, this.box(node, picture)]));
    this.field.replaceChildren(picture);
    this.key();
  }

  // Between nodes that stand above each other.
  upright(a, b) {
    const down = b.y > a.y ? 1 : -1;
    const from = a.y + down * (this.size(a)[1] / 2 + EDGE_ROOM);
    const to = b.y - down * (this.size(b)[1] / 2 + EDGE_ROOM + 14);
    return `M${a.x} ${from}L${b.x} ${to}`;
  }

  box(node, picture) {
    const [wide, tall] = this.size(node);
    const group = svg("g", { class: `node ${node.kind}`, tabindex: 0, role: "button", "data-node": node.name });
    const [x, y] = [node.x - wide / 2, node.y - tall / 2];
    group.append(
      svg("rect", { class: "frame", x: x - 4, y: y - 4, width: wide + 8, height: tall + 8, rx: 3 }),
      svg("text", { class: "name", x: node.x, y: y - 9, "text-anchor": "middle" }, node.label),
    );
    const value = this.cells(node.value, x, y, "neutral");
    group.appendChild(value);
    let gradient = null;
    if (node.gradient) {
      gradient = this.cells(node.gradient, x, y + node.value.shape[0] * UNIT + 4, "accent");
      group.appendChild(gradient);
    }
    const [rows, cols] = node.value.shape;
    const tell = () => this.card.show(group, `${node.label}  ${rows}×${cols}`, [[this.data.value, node.text]]);
    group.addEventListener("pointerenter", tell);
    group.addEventListener("focus", tell);
    group.addEventListener("blur", () => this.card.hide());
    onLeave(group, () => this.card.hide());
    const go = () => {
      const { steps } = this.data;
      const back = steps.findIndex((step) => step.node === node.name && step.backward);
      const forth = steps.findIndex((step) => step.node === node.name && !step.backward);
      const to = back >= 0 ? back : forth;
      if (to >= 0) this.player.move(to);
    };
    group.addEventListener("click", go);
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      go();
      event.preventDefault();
    });
    picture.appendChild(group);
    return { group, value, gradient };
  }

  // Each matrix has its own scale: from its largest magnitude down to zero and below.
  cells(values, x, y, role) {
    const [rows, cols] = values.shape;
    const limit = Math.max(...values.map(Math.abs)) || 1;
    const group = svg("g");
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < cols; j++) {
        const value = values[i * cols + j];
        const share = Math.round(100 * Math.min(1, Math.abs(value) / limit));
        // Values are squares, gradients dots.
        const cell =
          role === "accent"
            ? svg("circle", { cx: x + (j + 0.45) * UNIT, cy: y + (i + 0.45) * UNIT, r: 0.45 * UNIT })
            : svg("rect", { x: x + j * UNIT, y: y + i * UNIT, width: UNIT - 1, height: UNIT - 1 });
        cell.style.fill = `color-mix(in srgb, var(--lv-${role}-${value < 0 ? "neg" : "pos"}) ${share}%, var(--paper))`;
        group.appendChild(cell);
      }
    }
    return group;
  }

  key() {
    const ramp = (role, text) => {
      const box = el("span", `ramp ${role}`);
      box.style.background = `linear-gradient(90deg, var(--lv-${role}-neg), var(--paper), var(--lv-${role}-pos))`;
      return [box, el("span", null, text)];
    };
    this.legend.replaceChildren(
      ...ramp("neutral", this.data.value),
      ...ramp("accent", this.data.gradient),
      el("span", "muted", this.data.scale),
    );
  }

  paint() {
    if (!this.data || this.player.step < 0) return;
    const { steps } = this.data;
    const k = this.player.step;
    const now = steps[k];
    const values = new Set(this.data.nodes.map((node) => node.name));
    const gradients = new Set();
    for (const step of steps) if (!step.backward) values.delete(step.node);
    steps.slice(0, k + 1).forEach((step) => (step.backward ? gradients : values).add(step.node));
    for (const [name, box] of this.boxes) {
      box.value.classList.toggle("there", values.has(name));
      box.gradient?.classList.toggle("there", gradients.has(name));
      box.group.classList.toggle("now", now.node === name);
      box.group.classList.toggle("back", now.node === name && now.backward);
    }
    for (const { from, to, line } of this.lines) {
      line.classList.toggle("there", values.has(from) && values.has(to));
      line.classList.toggle("back", gradients.has(from) && (gradients.has(to) || to === "loss"));
      line.classList.toggle("now", now.backward ? from === now.node : to === now.node);
    }
    this.caption.textContent = now.caption;
    this.reveal(k, this.nodes.get(now.node));
  }

  // On a narrow screen the picture is wider than its field and moves along with the step.
  reveal(step, node) {
    const { scrollWidth, clientWidth } = this.field;
    if (step === this.revealed || scrollWidth <= clientWidth) return;
    this.revealed = step;
    this.field.scrollLeft = (node.x / this.wide) * scrollWidth - clientWidth / 2;
  }

  destroy() {
    this.player.stop();
  }
}
