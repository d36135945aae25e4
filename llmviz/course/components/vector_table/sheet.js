// The numbers of a table of vectors, out of float16, and rows of it as pixels in the page's colours.

import { css, el, mix, rgb } from "../_shared/common.js";
import { number } from "../_shared/numbers.js";

let halves = null; // every float16 there is, by its bits

function halfTable() {
  if (halves) return halves;
  halves = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    halves[bits] = sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
  }
  return halves;
}

export class TableSheet {
  constructor(root) {
    this.root = root;
  }

  take(data) {
    this.data = data;
    const { half, rows, columns } = data;
    const bits = new Uint16Array(half.buffer, half.byteOffset, rows * columns);
    const value = halfTable();
    this.values = new Float32Array(bits.length);
    for (let k = 0; k < bits.length; k++) this.values[k] = value[bits[k]];
  }

  palette() {
    const get = (name) => css(this.root, name);
    this.paper = rgb(get("--st-background-color") || get("--lv-surface"));
    const [negative, positive] = [rgb(get("--lv-residual-neg")), rgb(get("--lv-residual-pos"))];
    this.ink = get("--lv-ink");
    this.muted = get("--lv-muted");
    this.accent = get("--lv-accent");
    this.font = get("--st-font") || "sans-serif";
    this.mono = get("--mono") || "monospace";
    this.colors = Uint32Array.from({ length: 255 }, (_, i) => {
      const share = (i - 127) / 127;
      const [r, g, b] = mix(this.paper, share < 0 ? negative : positive, Math.abs(share));
      return (255 << 24) | (b << 16) | (g << 8) | r;
    });
  }

  // Some rows as a canvas with one pixel a number.
  pixels(from, count) {
    const { columns, limit } = this.data;
    const tile = el("canvas");
    tile.width = columns;
    tile.height = count;
    const pen = tile.getContext("2d");
    const image = pen.createImageData(columns, count);
    const out = new Uint32Array(image.data.buffer);
    const scale = 127 / limit;
    const start = from * columns;
    for (let k = 0; k < count * columns; k++) {
      const level = Math.round(this.values[start + k] * scale);
      out[k] = this.colors[(level < -127 ? -127 : level > 127 ? 127 : level) + 127];
    }
    pen.putImageData(image, 0, 0);
    return tile;
  }
}

// Three digits: what a float16 is sure of.
export function digits3(x) {
  const size = Math.abs(x);
  if (size !== 0 && size < 1e-3) return number(x, 3);
  return number(x, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
