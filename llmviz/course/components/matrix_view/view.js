// Linked matrices: point at a cell and its operands light up, with the arithmetic in numbers.

import { arithmetic } from "../_shared/arithmetic.js";
import { css, eachFrame, el, follow, live, onLeave, spotOf } from "../_shared/common.js";
import { Heat } from "../_shared/heat.js";
import { stepPlayer } from "../_shared/player.js";
import { Minimap } from "./minimap.js";
import { MatrixRoom } from "./room.js";
import { scaleOf } from "./scale.js";
import { StageBar } from "./stages.js";
import { placesOf, reveal, slide, windowsOf } from "./windows.js";
import { detailOf } from "./words.js";

export default function (component) {
  return live(component, (root, send) => new MatrixView(root, send));
}

class MatrixView {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.bar = new StageBar(
      root,
      (step) => this.player.move(step),
      (event) => this.player.key(event),
    );
    this.player = stepPlayer(root, send, () => this.stepped(), 1600);
    this.caption = el("p", "caption", null, { "aria-live": "polite" });
    this.field = el("div", "field");
    this.detail = el("div", "detail", null, { "aria-live": "polite" });
    root.append(this.caption, this.field, this.detail);
    this.room = new MatrixRoom(this.field);
    this.hover = null;
    this.pinned = null;
    this.move = eachFrame((name, event) => this.pointed(name, event));
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.pinned) this.pin(null);
    });
  }

  update(data, width) {
    this.data = data;
    this.hover = null;
    this.matrices = new Map();
    for (const m of data.matrices) {
      if (typeof m.values === "string") m.values = data[m.values]; // of a part that was fetched once
      [m.rows, m.cols] = m.values.shape;
      m.hide = new Set(m.hidden.map(([i, j]) => i * m.cols + j));
      this.matrices.set(m.name, m);
    }
    this.openWindows(data);
    const own = this.pinned && [this.pinned.name, ...this.pinned.cell];
    const kept = follow(this, "pinned", data.pinned, own);
    this.pinned = kept && { name: kept[0], cell: kept.slice(1) };
    if (this.pinned && !this.has(this.pinned)) {
      this.pinned = null;
      this.send("pinned", null);
    }
    const last = data.steps.length - 1;
    const step = Math.max(0, Math.min(follow(this, "step", data.step, this.player.step), last));
    this.bar.update(data.stages);
    this.stage = data.stages ? step : null;
    this.build();
    if (this.pinned && !data.window?.length) this.reveal(this.pinned); // else the page says what is seen
    this.player.bar.hidden = this.caption.hidden = last < 1;
    this.placed = false; // drawn once, when the player stands at its step and all have their place
    this.player.configure(Math.max(last, 0), step, { label: (k) => data.steps[k]?.caption ?? "" });
    this.layout(width);
  }

  has({ name, cell }) {
    const m = this.matrices.get(name);
    return Boolean(m) && cell[0] < m.rows && cell[1] < m.cols;
  }

  // ---- windows

  openWindows(data) {
    const own = this.windows && placesOf(this.windows);
    this.windows = windowsOf(data.windows);
    for (const [name, at] of follow(this, "window", data.window, own) ?? []) {
      if (this.windows.has(name)) slide(this.windows.get(name), at);
    }
  }

  reveal(spot) {
    const heat = this.heats.get(spot.name);
    reveal(heat?.rowAxis, spot.cell[0]);
    reveal(heat?.colAxis, spot.cell[1]);
  }

  // ---- the page's skeleton

  build() {
    this.heats = new Map();
    this.minis = new Map();
    this.before = this.kept ?? new Map(); // canvases of the last time, by the matrix's name
    this.kept = new Map(this.data.stages ? this.before : []); // other stages come back
    this.boxes = new Map();
    const grid = this.grid();
    this.field.className = grid ? "field grid" : "field flow";
    this.field.replaceChildren();
    this.field.style.gridTemplateColumns = "";
    const entries = grid ?? [[...this.matrices.keys()]];
    entries.forEach((row, r) =>
      row.forEach((name, c) => {
        if (name === null || (c && name === row[c - 1])) return;
        const node = this.matrices.has(name) ? this.box(name) : el("span", "glyph", name);
        if (grid) {
          node.style.gridRow = r + 1;
          const next = row.findIndex((other, at) => at > c && other !== name);
          node.style.gridColumn = `${c + 1} / ${next < 0 ? row.length + 1 : next + 1}`;
        }
        this.field.appendChild(node);
      }),
    );
  }

  box(name) {
    const m = this.matrices.get(name);
    const box = el("figure", "matrix");
    box.style.order = [...this.matrices.keys()].indexOf(name); // below each other, as they are made
    const head = el("figcaption");
    const dot = el("span", "dot");
    dot.style.background = `var(--lv-${m.role === "neutral" ? "muted" : m.role})`;
    head.append(dot, el("span", "label", m.label));
    head.appendChild(el("span", "shape num", `${m.rows}×${m.cols}`));
    if (m.formula) head.appendChild(el("span", "formula", m.formula));
    for (const [n, [name, cells]] of (m.rings ?? []).entries()) {
      if (cells.length) head.appendChild(el("span", "formula", `${n ? "⬚" : "▢"} ${name}`));
    }
    const axes = m.windows.map((axis) => this.windows.get(axis) ?? null);
    const known = this.before.get(name);
    const canvas = known?.canvas ?? this.canvas(name);
    const heat = new Heat(this.root, m, axes, canvas);
    this.kept.set(name, { canvas, mini: known?.mini });
    box.append(head, canvas);
    if (axes.some(Boolean)) {
      const mini = known?.mini ?? this.minimap(m.label);
      mini.show(heat);
      this.kept.get(name).mini = mini;
      this.minis.set(name, mini);
      box.append(mini.canvas, mini.note);
    }
    box.append(scaleOf(m));
    this.heats.set(name, heat);
    this.boxes.set(name, box);
    return box;
  }

  canvas(name) {
    const canvas = el("canvas", "heat");
    canvas.addEventListener("pointermove", (event) => this.move(name, event));
    onLeave(canvas, () => this.hover?.name === name && this.look(null));
    canvas.addEventListener("click", (event) => this.click(name, event));
    canvas.addEventListener("keydown", (event) => this.keys(name, event));
    canvas.addEventListener("blur", () => this.look(null));
    return canvas;
  }

  minimap(label) {
    const paint = eachFrame(() => this.paint());
    const move = (axis, at) => (slide(axis, at), paint());
    return new Minimap(label, move, () => this.send("window", placesOf(this.windows)));
  }

  layout(width) {
    const known = {}; // asking for a style is slow, and all of them ask for the same
    const style = (name) => (known[name] ??= css(this.root, name));
    for (const heat of this.heats.values()) heat.palette(style);
    const matrices = [...this.heats.values()].map((heat) => heat.m);
    this.room.share(width, { ...this.data, layout: this.grid(), matrices }, this.heats);
    this.width = width;
    this.bar.layout(width);
    this.place();
  }

  place() {
    this.placed = true;
    for (const mini of this.minis.values()) mini.layout();
    this.paint();
  }

  // ---- steps

  stepped() {
    const { step } = this.player;
    this.caption.textContent = this.data.steps[step]?.caption ?? "";
    this.bar.show(step);
    if (!this.placed) return;
    if (this.stage === null || this.stage === step) return this.paint();
    this.stage = step;
    this.hover = null;
    this.build();
    this.layout(this.width);
  }

  // The matrices that are drawn: of the present stage, where there are stages.
  grid() {
    return this.data.stages ? this.data.stages[this.stage].layout : this.data.layout;
  }

  // Names that are there at this step; without steps, all of them.
  present() {
    if (this.data.steps.length < 2) return new Set(this.matrices.keys());
    const named = new Set(this.data.steps.flatMap((step) => step.names));
    if (this.data.stages) return new Set(this.heats.keys());
    const seen = new Set([...this.matrices.keys()].filter((name) => !named.has(name)));
    for (const step of this.data.steps.slice(0, this.player.step + 1)) step.names.forEach((name) => seen.add(name));
    return seen;
  }

  // ---- pointing

  pointed(name, event) {
    const heat = this.heats.get(name);
    if (!heat) return;
    const cell = heat.hit(...spotOf(event, heat.canvas));
    this.look(cell && { name, cell });
  }

  look(spot) {
    if (spot && !this.present().has(spot.name)) spot = null;
    if (JSON.stringify(spot) === JSON.stringify(this.hover)) return;
    this.hover = spot;
    this.paint();
  }

  click(name, event) {
    const heat = this.heats.get(name);
    const cell = heat.hit(...spotOf(event, heat.canvas));
    if (cell && this.present().has(name)) this.pin({ name, cell });
  }

  pin(spot) {
    const same = spot && this.pinned && JSON.stringify(spot) === JSON.stringify(this.pinned);
    this.pinned = same ? null : spot;
    this.paint();
    this.send("pinned", this.pinned && [this.pinned.name, ...this.pinned.cell]);
  }

  keys(name, event) {
    const m = this.matrices.get(name);
    const [i, j] = this.hover?.name === name ? this.hover.cell : this.pinned?.name === name ? this.pinned.cell : [0, -1];
    const to = {
      ArrowRight: [i, j + 1],
      ArrowLeft: [i, Math.max(0, j - 1)],
      ArrowDown: [i + (j < 0 ? 0 : 1), Math.max(0, j)],
      ArrowUp: [i - 1, Math.max(0, j)],
      Home: [i, 0],
      End: [i, m.cols - 1],
    }[event.key];
    if (to) {
      const cell = [Math.max(0, Math.min(m.rows - 1, to[0])), Math.max(0, Math.min(m.cols - 1, to[1]))];
      this.reveal({ name, cell });
      this.look({ name, cell });
    } else if ((event.key === "Enter" || event.key === " ") && this.hover) this.pin(this.hover);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- drawing

  paint() {
    const present = this.present();
    const spot = this.hover ?? this.pinned;
    const pointed = spot && present.has(spot.name) ? spot : null;
    const line =
      pointed &&
      arithmetic(this.matrices, this.matrices.get(pointed.name), ...pointed.cell, pointed === this.pinned || this.isPinned(pointed));
    const marked = this.data.steps.length > 1 && !this.data.stages;
    const now = new Set(marked ? this.data.steps[this.player.step]?.names : []);
    for (const [name, heat] of this.heats) {
      const bands = line ? line.touched.filter((t) => t.name === name) : [];
      const target = pointed?.name === name;
      const box = this.boxes.get(name);
      box.classList.toggle("apart", Boolean(pointed) && !target && !bands.length);
      box.classList.toggle("ghost", !present.has(name));
      box.classList.toggle("now", now.has(name));
      const lit = target ? { cell: pointed.cell, bands } : bands.length ? { bands } : null;
      const pinned = this.pinned?.name === name ? this.pinned.cell : null;
      heat.draw({ ghost: !present.has(name), lit, pinned });
      this.minis.get(name)?.draw(!present.has(name), lit);
    }
    this.write(pointed, line);
  }

  isPinned(spot) {
    return this.pinned && this.pinned.name === spot.name && this.pinned.cell.join() === spot.cell.join();
  }

  write(spot, line) {
    const kept = Boolean(spot) && Boolean(this.isPinned(spot));
    this.detail.classList.toggle("told", Boolean(spot));
    this.detail.classList.toggle("kept", kept);
    this.detail.replaceChildren(...detailOf(spot, line, this.matrices, kept && (() => this.pin(null))));
  }

  destroy() {
    this.player.stop();
  }
}
