// How wide the cells of linked matrices are, so that all of them find room.

import { el } from "../_shared/common.js";
import { HEAT } from "../_shared/heat.js";

const WIDTHS = [58, 54, 50, 46, 43, 40, 24, 22, 20, 18, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3];
const GAP = 26;
const PHONE = 600;
const MANY = 20; // matrices of which two stand beside each other even there
const STACKED = [46, 40, HEAT.number, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2];
// Cells of matrices of few columns, and the least that those of wide ones may be beside them.
const APART = [[58, 5], [50, 5], [42, 5], [38, 5], [34, 5], [34, 3], [31, 3], ...[20, 18, 16, 14, 12, 10].map((few) => [few, 3])];
const NARROW = { cols: 2, width: 54 };
// Widths of cells seen through a window, and of all others beside them.
const SEEN = [46, 43, 40, 38, 36, 34];
const BESIDE = [50, 46, 43, 40, 38, 36, 34, 24, 22, 20, 18, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4];
const STRIP = { cols: 16, width: 168, height: 7 }; // longer rows without a window are strips of colour
const TALLEST = 420; // pixels that the rows of one matrix may take

export class MatrixRoom {
  constructor(field) {
    this.field = field;
  }

  // The widest cells with which everything fits; small matrices scroll rather than lose numbers.
  share(width, data, heats) {
    this.width = width;
    this.data = data;
    this.heats = heats;
    this.pair = null; // widths of cells in windows, and of all others
    this.few = 0; // width of cells in matrices of few columns
    const pen = el("canvas").getContext("2d");
    for (const heat of heats.values()) heat.measure(pen);
    this.field.classList.remove("stack", "wrap");
    const windows = [...heats.values()].some((heat) => heat.rowAxis || heat.colAxis);
    if (windows && width > PHONE && this.beside()) return;
    if (data.stacked) this.shareEdges();
    if (data.narrow && (width > PHONE ? this.apart() : this.stack())) return;
    this.alike();
  }

  // All cells alike.
  alike() {
    const { numbers: wanted, stacked, matrices, layout } = this.data;
    const small = Math.max(...matrices.map((m) => m.cols)) <= 10;
    let widths = WIDTHS.filter((w) => w >= (stacked ? 3 : 6) && (wanted !== false || w < HEAT.number));
    if (wanted === true || (wanted === "auto" && small)) widths = widths.filter((w) => w >= HEAT.number);
    const w = widths.find((candidate) => this.needed(candidate) <= this.width) ?? widths[widths.length - 1];
    // On a phone what finds no room beside the others goes on below, in order and with its signs.
    const below = this.width <= PHONE && layout && !stacked && this.needed(w) > this.width;
    this.field.classList.toggle("wrap", Boolean(below));
    const tallest = Math.max(...matrices.map((m) => m.rows));
    // Cells are squares, but for long thin rows, which want to be tall enough for their labels.
    const side = stacked ? 20 : w;
    const h = w >= HEAT.number ? 28 : Math.max(6, Math.min(side, Math.floor(560 / tallest)));
    for (const heat of this.heats.values()) heat.resize(this.widthOf(heat, w < HEAT.number ? Math.min(w, h * 2) : w), h);
  }

  // Cells seen through a window with their numbers, all others as wide as fits beside them.
  beside() {
    for (const others of BESIDE) {
      for (const seen of SEEN) {
        this.pair = [seen, others];
        if (this.needed(seen) > this.width) continue;
        for (const heat of this.heats.values()) {
          const w = this.widthOf(heat, seen);
          const h = w >= HEAT.number ? 21 : heat.cols > STRIP.cols ? STRIP.height : w;
          heat.resize(w, rowHeight(heat, h));
        }
        return true;
      }
    }
    this.pair = null;
    return false;
  }

  // Matrices of few columns with their numbers beside wide ones without; false where both do not fit.
  apart() {
    for (const [few, least] of APART) {
      this.few = few;
      const fits = (w) => w >= least && w <= few && this.needed(w) <= this.width;
      const w = [12, 10, 9, 8, 7, 6, 5, 4, 3].find(fits);
      if (!w) continue;
      for (const heat of this.heats.values()) heat.resize(this.widthOf(heat, w), rowHeight(heat, Math.min(24, few)));
      return true;
    }
    this.few = 0;
    return false;
  }

  // On a narrow screen one below the other, each as wide as it can be.
  stack() {
    this.field.classList.add("stack");
    const many = this.heats.size > MANY;
    this.field.classList.toggle("many", many);
    for (const heat of this.heats.values()) {
      const room = many && !heat.colAxis ? (this.width - 12) / 2 : this.width;
      const fits = (w) => {
        const h = w >= HEAT.number ? 24 : heat.cols > STRIP.cols ? 9 : 20;
        heat.resize(w, rowHeight(heat, h));
        return heat.width <= room;
      };
      if (!STACKED.some(fits)) fits(1.5);
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

  // How wide all of it is with cells so wide.
  needed(w) {
    const size = (name) => {
      const heat = this.heats.get(name);
      if (!heat) return name ? 14 : 0;
      heat.resize(this.widthOf(heat, w), w);
      return heat.width;
    };
    const { layout } = this.data;
    if (!layout) return Math.max(...[...this.heats.keys()].map(size));
    const columns = Math.max(...layout.map((row) => row.length));
    let total = -GAP;
    const alone = (row, c) => row[c] !== row[c - 1] && row[c] !== row[c + 1];
    for (let c = 0; c < columns; c++) total += GAP + Math.max(0, ...layout.map((row) => (alone(row, c) ? size(row[c]) : 0)));
    // Rows with names that go across columns need the sum of what stands in them.
    const across = layout.filter((row) => row.some((name, c) => name && !alone(row, c)));
    return Math.max(total, ...across.map((row) => [...new Set(row)].reduce((sum, name) => sum + GAP + size(name), -GAP)));
  }
}

function rowHeight(heat, wanted) {
  return Math.max(3, Math.min(wanted, Math.floor(TALLEST / heat.rows)));
}
