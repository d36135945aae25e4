// One matrix on a canvas: labels, coloured cells, numbers where they fit, what is lit.

import { at } from "./arithmetic.js";
import { cellText, decimalsFor } from "./cell_text.js";
import { shorten } from "./chart.js";
import { css, el, fit, inkOn, inks, mix, rgb, rgbText } from "./common.js";
import { number } from "./numbers.js";
import { worded } from "./worded.js";

const DASHED = [4, 3]; // a ring around a cell that is not the first one named

export const HEAT = { number: 31, head: 15, font: 12, small: 11, tight: 36 };

export class Heat {
  // `axes`: the windows through which its rows and its columns are seen, null where all are.
  // `canvas`: one to draw on again; making them is what costs most.
  constructor(root, matrix, axes = [null, null], canvas = el("canvas", "heat")) {
    this.root = root;
    this.m = matrix;
    [this.rowAxis, this.colAxis] = axes;
    this.canvas = canvas;
    this.canvas.tabIndex = 0;
    const size = worded("{rows} × {columns} numbers", { rows: matrix.rows, columns: matrix.cols });
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", worded("{name}, {size}; arrow keys move, Enter keeps a cell", { name: matrix.label, size }));
  }

  // What is seen: from which row and column on, and how many of them.
  get row0() {
    return this.rowAxis?.at ?? 0;
  }

  get col0() {
    return this.colAxis?.at ?? 0;
  }

  get rows() {
    return this.rowAxis?.show ?? this.m.rows;
  }

  get cols() {
    return this.colAxis?.show ?? this.m.cols;
  }

  // Names of rows and columns; through a window they have their numbers instead.
  names(axis) {
    const [labels, window, size] = axis ? [this.m.colLabels, this.colAxis, this.m.cols] : [this.m.rowLabels, this.rowAxis, this.m.rows];
    return labels.length || !window ? labels : Array.from({ length: size }, (_, k) => String(k));
  }

  // Space beside and above the cells; the rest follows from the cell's size.
  measure(pen) {
    const m = this.m;
    [this.rowNames, this.colNames] = [this.names(0), this.names(1)];
    pen.font = this.fonts.label;
    const widest = (labels) => labels.reduce((w, text) => Math.max(w, pen.measureText(text).width), 0);
    pen.font = this.fonts.axis;
    const asks = m.rowAxis ? pen.measureText(`${m.rowAxis} ↓`).width + 8 : 0;
    pen.font = this.fonts.label;
    this.gutter = Math.ceil(Math.max(this.rowNames.length ? Math.min(96, widest(this.rowNames)) + 9 : 2, asks));
    this.colWidest = Math.min(96, widest(this.colNames));
  }

  resize(w, h) {
    const m = this.m;
    this.w = w;
    this.h = h;
    this.sums = m.rowSums && w >= 20 ? 40 : 0;
    this.upright = this.colNames.length > 0 && this.colWidest > w - 4;
    const labels = this.colNames.length ? (this.upright ? this.colWidest + 6 : HEAT.head) : 0;
    const axis = m.rowAxis || m.colAxis ? HEAT.head : 0;
    this.top = Math.ceil(labels + axis + (this.sums && !labels ? HEAT.head : 0)) + 2;
    // A question longer than the matrix is wide must not be cut off.
    const question = m.colAxis.length * 6.2 + 16;
    this.width = this.gutter + Math.max(this.cols * w + this.sums, question) + 2;
    this.height = this.top + this.rows * h + 2;
    this.decimals = null;
  }

  // How the numbers are written is found once per size: minus one decimal is none at all.
  digits(pen) {
    if (this.w < HEAT.number || this.h < 17) return -1;
    this.letters = Math.floor((this.w - 2) / pen.measureText("0").width);
    return decimalsFor(this.m.values, Math.min(this.m.digits, this.w >= 54 ? 3 : 2), this.letters);
  }

  // Colours and fonts are read once per theme, not once per cell.
  palette(get = (name) => css(this.root, name)) {
    this.paper = rgb(get("--st-background-color") || get("--lv-surface"));
    this.negative = rgb(get(`--lv-${this.m.role}-neg`));
    this.positive = rgb(get(`--lv-${this.m.role}-pos`));
    this.ink = get("--lv-ink");
    this.inks = inks(get);
    this.muted = get("--lv-muted");
    this.line = get("--lv-line");
    this.hair = get("--lv-hair");
    this.accent = get("--lv-accent");
    const [mono, text] = [get("--mono") || "monospace", get("--st-font") || "sans-serif"];
    this.fonts = {
      number: `${HEAT.font}px ${mono}`,
      tight: `${HEAT.small}px ${mono}`,
      axis: `italic ${HEAT.small}px ${text}`,
      label: `${HEAT.font}px ${text}`,
      bold: `700 ${HEAT.font}px ${text}`,
    };
  }

  // Narrow cells have smaller numbers, so that those beside each other stay apart.
  get numberFont() {
    return this.w < HEAT.tight ? this.fonts.tight : this.fonts.number;
  }

  color(value) {
    const share = value / this.m.limit;
    return mix(this.paper, share < 0 ? this.negative : this.positive, 0.92 * Math.abs(share));
  }

  // `lit`: null, or { cell: [i, j] } for the cell looked at, or { bands: [...] } for an operand.
  draw({ ghost = false, lit = null, pinned = null } = {}) {
    const _m = this.m;
    const pen = fit(this.canvas, this.width, this.height);
    const { gutter: x0, top: y0, w, h } = this;
    pen.textBaseline = "middle";
    this.labels(pen, lit, ghost);
    if (ghost) {
      pen.strokeStyle = this.line;
      pen.setLineDash([3, 4]);
      pen.strokeRect(x0 + 0.5, y0 + 0.5, this.cols * w - 1, this.rows * h - 1);
      return;
    }
    const gap = w >= 16 && h >= 14 ? 1 : 0;
    pen.textAlign = "center";
    pen.font = this.numberFont;
    this.decimals ??= this.digits(pen);
    const { row0, col0 } = this;
    for (let i = row0; i < row0 + this.rows; i++) {
      for (let j = col0; j < col0 + this.cols; j++) {
        const bright = this.bright(lit, i, j);
        this.cell(pen, i, j, x0 + (j - col0) * w, y0 + (i - row0) * h, w - gap, h - gap, this.decimals, bright);
      }
    }
    if (this.sums) this.rowSums(pen, lit);
    for (const band of lit?.bands ?? []) this.frame(pen, band, this.ink, 1.5);
    if (lit?.cell) this.frame(pen, cellBand(lit.cell), this.ink, 2);
    if (pinned) this.frame(pen, cellBand(pinned), this.accent, 2.5);
    for (const [n, [, cells]] of (_m.rings ?? []).entries()) {
      pen.setLineDash(n ? DASHED : []);
      for (const cell of cells) this.frame(pen, cellBand(cell), this.ink, 3);
    }
    pen.setLineDash([]);
  }

  bright(lit, i, j) {
    if (!lit) return 1;
    if (lit.cell) return lit.cell[0] === i && lit.cell[1] === j ? 1 : 0.36;
    return lit.bands.some((band) => inBand(band, i, j)) ? 1 : 0.22;
  }

  cell(pen, i, j, x, y, w, h, decimals, bright) {
    const value = at(this.m, i, j);
    if (this.m.hide.has(i * this.m.cols + j)) {
      pen.fillStyle = this.hair;
      pen.fillRect(x, y, w, h);
      pen.strokeStyle = this.accent;
      pen.lineWidth = 1.5;
      pen.strokeRect(x + 1, y + 1, w - 2, h - 2);
      if (w <= 8 || h <= 8) return;
      pen.fillStyle = this.ink;
      pen.font = this.fonts.bold;
      pen.fillText("?", x + w / 2, y + h / 2 + 0.5);
      pen.font = this.numberFont;
      return;
    }
    if (value === -Infinity) return this.hatch(pen, x, y, w, h, decimals >= 0);
    // Fading goes towards the page, so that the ink can be chosen to stay readable.
    const fill = mix(this.paper, this.color(value), bright);
    pen.fillStyle = rgbText(fill);
    pen.fillRect(x, y, w, h);
    if (decimals >= 0) {
      // A faint frame keeps cells near zero visible on the page's own background.
      pen.strokeStyle = this.hair;
      pen.lineWidth = 1;
      pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
      pen.fillStyle = bright < 1 ? this.muted : inkOn(fill, this.inks);
      pen.fillText(cellText(value, decimals, this.letters, this.m.limit), x + w / 2, y + h / 2 + 0.5);
    }
  }

  hatch(pen, x, y, w, h, text) {
    pen.save();
    pen.beginPath();
    pen.rect(x, y, w, h);
    pen.clip();
    pen.strokeStyle = this.line;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let d = -h; d < w; d += 5) {
      pen.moveTo(x + d, y + h);
      pen.lineTo(x + d + h, y);
    }
    pen.stroke();
    pen.restore();
    if (text) {
      pen.fillStyle = this.muted;
      pen.fillText("−∞", x + w / 2, y + h / 2 + 0.5);
    }
  }

  labels(pen, lit, ghost) {
    const m = this.m;
    const { gutter: x0, top: y0, w, h } = this;
    const isLit = (axis, k) =>
      lit &&
      (lit.cell ? lit.cell[axis] === k : lit.bands.some((b) => (axis ? b.cols : b.rows)?.[0] <= k && k <= (axis ? b.cols : b.rows)[1]));
    pen.globalAlpha = ghost ? 0.4 : 1;
    pen.textAlign = "right";
    const everyRow = Math.max(1, Math.ceil(11 / h));
    const { row0, col0 } = this;
    this.rowNames.forEach((label, i) => {
      if (i < row0 || i >= row0 + this.rows) return;
      const hot = isLit(0, i);
      if (!hot && (i % everyRow || (lit && everyRow > 1))) return;
      pen.font = hot ? this.fonts.bold : this.fonts.label;
      pen.fillStyle = hot || !lit ? this.ink : this.muted;
      pen.fillText(shorten(pen, label, x0 - 8), x0 - 7, y0 + (i - row0 + 0.5) * h);
    });
    const everyCol = this.upright ? Math.max(1, Math.ceil(13 / w)) : 1;
    this.colNames.forEach((label, j) => {
      if (j < col0 || j >= col0 + this.cols) return;
      const hot = isLit(1, j);
      if (!hot && (j % everyCol || (lit && everyCol > 1))) return;
      pen.font = hot ? this.fonts.bold : this.fonts.label;
      pen.fillStyle = hot || !lit ? this.ink : this.muted;
      pen.save();
      pen.translate(x0 + (j - col0 + 0.5) * w, y0 - 5);
      pen.textAlign = this.upright ? "left" : "center";
      if (this.upright) pen.rotate(-Math.PI / 2);
      else pen.translate(0, -4);
      pen.fillText(shorten(pen, label, 96), 0, 0);
      pen.restore();
    });
    pen.font = this.fonts.axis;
    pen.fillStyle = this.muted;
    if (m.rowAxis) {
      pen.textAlign = "right";
      pen.fillText(`${m.rowAxis} ↓`, x0 - 7, m.colAxis ? 7 : y0 - 8);
    }
    pen.textAlign = "left";
    if (m.colAxis) pen.fillText(`${m.colAxis} →`, x0, 7);
    pen.globalAlpha = 1;
  }

  rowSums(pen, lit) {
    const x = this.gutter + this.cols * this.w + this.sums / 2 + 2;
    pen.fillStyle = this.muted;
    pen.textAlign = "center";
    pen.font = this.fonts.label;
    pen.fillText("sum", x, this.top - 9);
    pen.font = this.fonts.number;
    this.m.rowSums.forEach((sum, i) => {
      pen.globalAlpha = lit && !(lit.cell && lit.cell[0] === i) ? 0.35 : 1;
      if (this.h >= 11) pen.fillText(number(sum, 2), x, this.top + (i + 0.5) * this.h);
    });
    pen.globalAlpha = 1;
  }

  frame(pen, band, color, width) {
    // Only the part that the windows show.
    const clip = (wanted, from, count) => [
      Math.max(0, (wanted?.[0] ?? from) - from),
      Math.min(count - 1, (wanted?.[1] ?? from + count) - from),
    ];
    const [r0, r1] = clip(band.rows, this.row0, this.rows);
    const [c0, c1] = clip(band.cols, this.col0, this.cols);
    if (r0 > r1 || c0 > c1) return;
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.lineJoin = "round";
    const gap = this.w >= 16 && this.h >= 14 ? 1 : 0;
    const x = this.gutter + c0 * this.w;
    const y = this.top + r0 * this.h;
    pen.strokeRect(x, y, (c1 - c0 + 1) * this.w - gap, (r1 - r0 + 1) * this.h - gap);
  }

  // The cell under a point of the canvas, or null.
  hit(x, y) {
    const j = Math.floor((x - this.gutter) / this.w);
    const i = Math.floor((y - this.top) / this.h);
    return i >= 0 && j >= 0 && i < this.rows && j < this.cols ? [i + this.row0, j + this.col0] : null;
  }
}

function cellBand([i, j]) {
  return { rows: [i, i], cols: [j, j] };
}

function inBand(band, i, j) {
  const row = !band.rows || (band.rows[0] <= i && i <= band.rows[1]);
  return row && (!band.cols || (band.cols[0] <= j && j <= band.cols[1]));
}
