// Linked matrices: point at a cell and its operands light up, with the arithmetic in numbers.

export default function (component) {
  return live(component, (root, send) => new MatrixView(root, send));
}

const WIDTHS = [58, 54, 50, 46, 43, 40, 24, 22, 20, 18, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3];
const GAP = 26;
const PHONE = 600;
const MANY = 20; // matrices of which two stand beside each other even there
// Cells of matrices of few columns, and the least that those of wide ones may be beside them.
const APART = [[58, 5], [50, 5], [42, 5], [38, 5], [34, 5], [34, 3], ...[20, 18, 16, 14, 12, 10].map((few) => [few, 3])];
const NARROW = { cols: 2, width: 54 };
// Widths of cells seen through a window, and of all others beside them.
const SEEN = [46, 43, 40, 38, 36, 34];
const BESIDE = [50, 46, 43, 40, 38, 36, 34, 24, 22, 20, 18, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4];
const STRIP = { cols: 16, width: 168, height: 7 }; // longer rows without a window are strips of colour

class MatrixView {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.player = makePlayer(root, {
      onStep: () => this.stepped(),
      onCommit: (step) => send("step", step),
      pace: 1600,
    });
    this.caption = el("p", "caption", null, { "aria-live": "polite" });
    this.field = el("div", "field");
    this.detail = el("div", "detail", null, { "aria-live": "polite" });
    root.append(this.caption, this.field, this.detail);
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
    this.build();
    if (this.pinned) this.reveal(this.pinned);
    const last = data.steps.length - 1;
    this.player.bar.hidden = this.caption.hidden = last < 1;
    const step = Math.max(0, Math.min(follow(this, "step", data.step, this.player.step), last));
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
    const own = this.windows && this.places();
    this.windows = new Map();
    for (const name in data.windows) this.windows.set(name, { name, ...data.windows[name], at: 0 });
    for (const [name, at] of follow(this, "window", data.window, own) ?? []) {
      if (this.windows.has(name)) this.slide(this.windows.get(name), at);
    }
  }

  places() {
    const moved = [...this.windows.values()].filter((axis) => axis.at);
    return moved.map((axis) => [axis.name, axis.at]).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  }

  slide(axis, at) {
    axis.at = Math.max(0, Math.min(axis.size - axis.show, at));
  }

  // Move the windows so far that a cell is seen.
  reveal(spot) {
    const heat = this.heats.get(spot.name);
    [heat?.rowAxis, heat?.colAxis].forEach((axis, k) => {
      if (axis) this.slide(axis, Math.max(spot.cell[k] - axis.show + 1, Math.min(spot.cell[k], axis.at)));
    });
  }

  // ---- the page's skeleton

  build() {
    this.heats = new Map();
    this.minis = new Map();
    this.before = this.kept ?? new Map(); // canvases of the last time, by the matrix's name
    this.kept = new Map();
    this.boxes = new Map();
    const grid = this.data.layout;
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
    const axes = m.windows.map((axis) => this.windows.get(axis) ?? null);
    const known = this.before.get(name);
    const canvas = known?.canvas ?? this.canvas(name);
    const heat = new Heat(this.root, m, axes, canvas);
    this.kept.set(name, { canvas, mini: known?.mini });
    const scale = this.scale(m);
    box.append(head, canvas);
    if (axes.some(Boolean)) {
      const mini = known?.mini ?? this.minimap(m.label);
      mini.show(heat);
      this.kept.get(name).mini = mini;
      this.minis.set(name, mini);
      box.append(mini.canvas, mini.note);
    }
    box.append(scale);
    this.heats.set(name, heat);
    this.boxes.set(name, box);
    return box;
  }

  canvas(name) {
    const canvas = el("canvas", "heat");
    canvas.addEventListener("pointermove", (event) => this.move(name, event));
    canvas.addEventListener("pointerleave", () => this.look(null));
    canvas.addEventListener("click", (event) => this.click(name, event));
    canvas.addEventListener("keydown", (event) => this.keys(name, event));
    canvas.addEventListener("blur", () => this.look(null));
    return canvas;
  }

  minimap(label) {
    const paint = eachFrame(() => this.paint());
    const move = (axis, at) => (this.slide(axis, at), paint());
    return new Minimap(label, move, () => this.send("window", this.places()));
  }

  // The scale of the colours is always drawn.
  scale(m) {
    const line = el("div", "scale num");
    const ends = m.scale === "diverging" ? [-m.limit, m.limit] : [0, m.limit];
    const digits = m.limit >= 10 ? 0 : m.limit >= 1 ? 1 : 2;
    const ramp = el("span", "ramp");
    const from = m.scale === "diverging" ? `var(--lv-${m.role}-neg), ` : "";
    ramp.style.background = `linear-gradient(90deg, ${from}var(--paper), var(--lv-${m.role}-pos))`;
    line.append(el("span", null, number(ends[0], digits)), ramp, el("span", null, number(ends[1], digits)));
    return line;
  }

  // The widest cells with which everything fits; small matrices scroll rather than lose numbers.
  layout(width) {
    this.width = width;
    const pen = el("canvas").getContext("2d");
    const known = {}; // asking for a style is slow, and all of them ask for the same
    const style = (name) => (known[name] ??= css(this.root, name));
    for (const heat of this.heats.values()) {
      heat.palette(style);
      heat.measure(pen);
    }
    this.pair = null;
    if (this.minis.size && width > PHONE && this.beside(width)) return this.place();
    const small = Math.max(...this.data.matrices.map((m) => m.cols)) <= 10;
    const { numbers: wanted, stacked } = this.data;
    if (stacked) this.shareEdges();
    this.field.classList.toggle("stack", false);
    if (this.data.narrow && (this.apart(width) || this.stack(width))) return this.place();
    let widths = WIDTHS.filter((w) => w >= (stacked ? 3 : 6) && (wanted !== false || w < HEAT.number));
    if (wanted === true || (wanted === "auto" && small)) widths = widths.filter((w) => w >= HEAT.number);
    const w = widths.find((candidate) => this.needed(candidate) <= width) ?? widths[widths.length - 1];
    const tallest = Math.max(...this.data.matrices.map((m) => m.rows));
    // Cells are squares, but for long thin rows, which want to be tall enough for their labels.
    const side = stacked ? 20 : w;
    const h = w >= HEAT.number ? 28 : Math.max(6, Math.min(side, Math.floor(560 / tallest)));
    for (const heat of this.heats.values()) heat.resize(this.widthOf(heat, w < HEAT.number ? Math.min(w, h * 2) : w), h);
    this.place();
  }

  place() {
    this.placed = true;
    for (const mini of this.minis.values()) mini.layout();
    this.paint();
  }

  // Cells seen through a window with their numbers, all others as wide as fits beside them.
  beside(width) {
    for (const others of BESIDE) {
      for (const seen of SEEN) {
        this.pair = [seen, others];
        if (this.needed(seen) > width) continue;
        for (const heat of this.heats.values()) {
          const w = this.widthOf(heat, seen);
          const h = w >= HEAT.number ? 21 : heat.cols > STRIP.cols ? STRIP.height : w;
          heat.resize(w, Math.max(3, Math.min(h, Math.floor(420 / heat.rows))));
        }
        return true;
      }
    }
    this.pair = null;
    return false;
  }

  // Matrices of few columns with their numbers beside wide ones without; false where both do not fit.
  apart(width) {
    for (const [few, least] of this.data.narrow ? APART : []) {
      this.few = few;
      const w = [12, 10, 9, 8, 7, 6, 5, 4, 3].find((candidate) => candidate >= least && candidate <= few && this.needed(candidate) <= width);
      if (!w) continue;
      const h = Math.min(24, few);
      for (const heat of this.heats.values()) heat.resize(this.widthOf(heat, w), Math.max(3, Math.min(h, Math.floor(420 / heat.rows))));
      return true;
    }
    this.few = 0;
    return false;
  }

  // On a narrow screen one below the other, each as wide as it can be.
  stack(width) {
    if (width > PHONE) return false;
    this.field.classList.toggle("stack", true);
    const many = this.heats.size > MANY;
    this.field.classList.toggle("many", many);
    for (const heat of this.heats.values()) {
      const room = many && !heat.colAxis ? (width - 12) / 2 : width;
      const fits = (w) => {
        heat.resize(w, Math.max(3, Math.min(24, w >= HEAT.number ? 24 : heat.cols > STRIP.cols ? 9 : 20, Math.floor(420 / heat.rows))));
        return heat.width <= room;
      };
      if (![46, 40, HEAT.number, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2].some(fits)) fits(1.5);
    }
    return true;
  }

  // Beside long rows, a column or two stay wide enough for their numbers.
  widthOf(heat, w) {
    if (this.pair && heat.colAxis) return this.pair[0];
    if (this.pair) return heat.cols > STRIP.cols ? Math.max(1, STRIP.width / heat.cols) : this.pair[1];
    if (this.few) return heat.cols <= this.data.narrow ? this.few : w;
    return this.data.stacked && heat.cols <= NARROW.cols ? Math.max(w, NARROW.width) : w;
  }

  // Matrices of one column of the layout begin at one left edge, so that their columns line up.
  shareEdges() {
    for (let c = 0; c < Math.max(...this.data.layout.map((row) => row.length)); c++) {
      const below = this.data.layout.map((row) => this.heats.get(row[c])).filter(Boolean);
      const gutter = Math.max(0, ...below.map((heat) => heat.gutter));
      for (const heat of below) heat.gutter = gutter;
    }
  }

  needed(w) {
    const size = (name) => {
      const heat = this.heats.get(name);
      if (!heat) return name ? 14 : 0;
      heat.resize(this.widthOf(heat, w), w);
      return heat.width;
    };
    if (!this.data.layout) return Math.max(...[...this.heats.keys()].map(size));
    const columns = Math.max(...this.data.layout.map((row) => row.length));
    let total = -GAP;
    const alone = (row, c) => row[c] !== row[c - 1] && row[c] !== row[c + 1];
    for (let c = 0; c < columns; c++) total += GAP + Math.max(0, ...this.data.layout.map((row) => (alone(row, c) ? size(row[c]) : 0)));
    // Rows with names that go across columns need the sum of what stands in them.
    const across = this.data.layout.filter((row) => row.some((name, c) => name && !alone(row, c)));
    return Math.max(total, ...across.map((row) => [...new Set(row)].reduce((sum, name) => sum + GAP + size(name), -GAP)));
  }

  // ---- steps

  stepped() {
    this.caption.textContent = this.data.steps[this.player.step]?.caption ?? "";
    if (this.placed) this.paint();
  }

  // Names that are there at this step; without steps, all of them.
  present() {
    if (this.data.steps.length < 2) return new Set(this.matrices.keys());
    const named = new Set(this.data.steps.flatMap((step) => step.names));
    const seen = new Set([...this.matrices.keys()].filter((name) => !named.has(name)));
    for (const step of this.data.steps.slice(0, this.player.step + 1)) step.names.forEach((name) => seen.add(name));
    return seen;
  }

  // ---- pointing

  pointed(name, event) {
    const box = this.heats.get(name)?.canvas.getBoundingClientRect();
    if (!box) return;
    const cell = this.heats.get(name).hit(event.clientX - box.left, event.clientY - box.top);
    this.look(cell && { name, cell });
  }

  look(spot) {
    if (spot && !this.present().has(spot.name)) spot = null;
    if (JSON.stringify(spot) === JSON.stringify(this.hover)) return;
    this.hover = spot;
    this.paint();
  }

  click(name, event) {
    const box = this.heats.get(name).canvas.getBoundingClientRect();
    const cell = this.heats.get(name).hit(event.clientX - box.left, event.clientY - box.top);
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
    const shown = spot && present.has(spot.name) ? spot : null;
    const line = shown && arithmetic(this.matrices, this.matrices.get(shown.name), ...shown.cell, shown === this.pinned || this.isPinned(shown));
    const now = new Set(this.data.steps.length > 1 ? this.data.steps[this.player.step]?.names : []);
    for (const [name, heat] of this.heats) {
      const bands = line ? line.touched.filter((t) => t.name === name) : [];
      const target = shown?.name === name;
      const box = this.boxes.get(name);
      box.classList.toggle("apart", Boolean(shown) && !target && !bands.length);
      box.classList.toggle("ghost", !present.has(name));
      box.classList.toggle("now", now.has(name));
      const lit = target ? { cell: shown.cell, bands } : bands.length ? { bands } : null;
      const pinned = this.pinned?.name === name ? this.pinned.cell : null;
      heat.draw({ ghost: !present.has(name), lit, pinned });
      this.minis.get(name)?.draw(!present.has(name), lit);
    }
    this.write(shown, line);
  }

  isPinned(spot) {
    return this.pinned && this.pinned.name === spot.name && this.pinned.cell.join() === spot.cell.join();
  }

  write(spot, line) {
    this.detail.classList.toggle("kept", Boolean(spot) && Boolean(this.isPinned(spot)));
    if (!spot) {
      const text = "Point at a cell to see where its number comes from; click to keep it.";
      return this.detail.replaceChildren(el("span", "muted", text));
    }
    const m = this.matrices.get(spot.name);
    const [i, j] = spot.cell;
    const where = el("span", "where");
    const place = `${m.rowLabels[i] ?? `row ${i}`}, ${m.colLabels[j] ?? `column ${j}`}`;
    where.append(el("b", null, m.label), el("span", "muted", ` ${place}`));
    const sum = el("span", "sum num");
    for (const part of line.parts) {
      const node = el(part.sup ? "sup" : "span", part.caret ? "caret" : part.strong ? "strong" : null, part.text);
      if (part.role) node.style.color = `var(--lv-${part.role}-text)`;
      sum.appendChild(node);
    }
    const parts = [where, sum];
    if (!line.full) parts.push(el("span", "muted more", "click for every term"));
    if (m.notes[i]) parts.push(el("span", "note", m.notes[i]));
    if (this.isPinned(spot)) {
      parts.push(el("span", "formula-line num muted", formula(this.matrices, m, i, j)));
      const free = el("button", "free", "×", { type: "button", "aria-label": "let go of this cell (Esc)" });
      free.onclick = () => this.pin(null);
      parts.push(free);
    }
    this.detail.replaceChildren(...parts);
  }

  destroy() {
    this.player.stop();
  }
}
