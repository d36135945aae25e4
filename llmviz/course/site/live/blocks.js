// Products with a matrix that stays in the packed blocks of a GGUF file: 32 weights each, which share a
// scale. Q8_0: the scale (float16) and 32 whole numbers of 8 bits. Q4_1: a scale and a lowest value
// (float16), and 16 bytes, each with a number from 0 to 15 for weight i and one for weight i + 16.

import { KERNELS } from "./blocks_simd.js";
import { halves } from "./halves.js";

const BLOCK = 32;
const [Q8_0, Q4_1] = [34, 20]; // bytes of a block
const PAGE = 65536; // bytes that a memory of WebAssembly counts by
const FINEST = 32767; // the largest whole number of 16 bits

// The bytes of a model, and how a matrix in them is multiplied: 32 weights at once where the browser has
// SIMD in WebAssembly (blocks.wat), else one by one here.
export class Memory {
  // bytes: of all weights, which come to stand at its beginning. shapes: of all matrices, (out, in).
  // Throws RangeError where there is not so much memory.
  constructor(bytes, shapes, { simd = hasSimd() } = {}) {
    const [rows, width] = [0, 1].map((axis) => shapes.reduce((most, shape) => Math.max(most, shape[axis]), BLOCK));
    // Behind the weights: the numbers of float16, the vector in 16 bits, what is told of its blocks, the result.
    const sizes = [4 * halves.length, 2 * width, (8 * width) / BLOCK, 4 * rows];
    let end = Math.ceil(bytes / BLOCK) * BLOCK;
    const places = sizes.map((size) => (end += Math.ceil(size / BLOCK) * BLOCK) - Math.ceil(size / BLOCK) * BLOCK);
    const memory = simd && new WebAssembly.Memory({ initial: Math.ceil(end / PAGE) });
    this.buffer = simd ? memory.buffer : new ArrayBuffer(end);
    this.bytes = new Uint8Array(this.buffer, 0, bytes);
    this.signed = new Int8Array(this.buffer);
    this.shorts = new Uint16Array(this.buffer);
    this.words = new Uint32Array(this.buffer);
    if (!simd) return;
    const [table, vector, told, result] = places;
    new Float32Array(this.buffer, table).set(halves);
    this.kernels = new WebAssembly.Instance(new WebAssembly.Module(kernelBytes()), { js: { memory } }).exports;
    this.places = { table, vector, told, result };
    this.vector = new Int16Array(this.buffer, vector, width);
    this.told = new Float32Array(this.buffer, told, (2 * width) / BLOCK);
    this.result = new Float32Array(this.buffer, result, rows);
  }

  // The numbers of a tensor of float32.
  floats({ shape, offset }) {
    return new Float32Array(
      this.buffer,
      offset,
      shape.reduce((a, b) => a * b),
    );
  }

  // W·x for a matrix (out, in) and a vector (in).
  product(tensor, x) {
    const [rows, width] = tensor.shape;
    if (x.length !== width) throw new RangeError(`a vector of ${width} numbers is needed; got ${x.length}`);
    if (this.kernels && tensor.type !== "F32") return this.#simd(tensor, x);
    const result = new Float64Array(rows);
    if (tensor.type === "Q4_1") this.#q4(tensor.offset, x, result);
    else if (tensor.type === "Q8_0") this.#q8(tensor.offset, x, result);
    else this.#f32(this.floats(tensor), x, result);
    return result;
  }

  // One row of a matrix, unpacked.
  row(tensor, row) {
    const width = tensor.shape[1];
    const result = new Float64Array(width);
    if (tensor.type === "F32") return Float64Array.from(this.floats(tensor).subarray(row * width, (row + 1) * width));
    const size = tensor.type === "Q4_1" ? Q4_1 : Q8_0;
    for (let at = tensor.offset + (row * width * size) / BLOCK, i = 0; i < width; at += size, i += BLOCK) {
      const scale = halves[this.shorts[at >> 1]];
      for (let n = 0; n < BLOCK; n++) {
        if (size === Q8_0) result[i + n] = scale * this.signed[at + 2 + n];
        else {
          const pair = this.bytes[at + 4 + (n & 15)];
          result[i + n] = scale * (n < 16 ? pair & 15 : pair >> 4) + halves[this.shorts[(at >> 1) + 1]];
        }
      }
    }
    return result;
  }

  // The vector comes in whole numbers of 16 bits, and a step for each block that makes its largest fit.
  #simd({ type, shape: [rows, width], offset }, x) {
    const { table, vector, told, result } = this.places;
    for (let block = 0; block < width / BLOCK; block++) {
      let [most, sum] = [0, 0];
      for (let i = block * BLOCK; i < (block + 1) * BLOCK; i++) {
        most = Math.max(most, Math.abs(x[i]));
        sum += x[i];
      }
      const step = most / FINEST;
      for (let i = block * BLOCK; i < (block + 1) * BLOCK; i++) this.vector[i] = step ? Math.round(x[i] / step) : 0;
      this.told[2 * block] = step;
      this.told[2 * block + 1] = sum;
    }
    const kernel = type === "Q4_1" ? this.kernels.q4 : this.kernels.q8;
    kernel(offset, vector, told, table, width / BLOCK, result, result + 4 * rows);
    return Float64Array.from(this.result.subarray(0, rows));
  }

  // In a block Σ (scale·n + low)·x is scale·Σ n·x + low·Σ x, so nothing is unpacked, and Σ x is the same
  // for all rows. Four sums at once, which the processor adds side by side.
  #q4(offset, x, result) {
    const { words } = this;
    const sums = new Float64Array(x.length / BLOCK);
    for (let i = 0; i < x.length; i++) sums[i >> 5] += x[i];
    for (let row = 0, at = offset >> 2; row < result.length; row++) {
      let total = 0;
      for (let block = 0; block < sums.length; block++, at += Q4_1 / 4) {
        const head = words[at];
        let a = 0;
        let b = 0;
        let c = 0;
        let d = 0;
        for (let word = 1, i = block * BLOCK; word < 5; word++, i += 4) {
          const eight = words[at + word] | 0;
          a += (eight & 15) * x[i] + ((eight >> 4) & 15) * x[i + 16];
          b += ((eight >> 8) & 15) * x[i + 1] + ((eight >> 12) & 15) * x[i + 17];
          c += ((eight >> 16) & 15) * x[i + 2] + ((eight >> 20) & 15) * x[i + 18];
          d += ((eight >> 24) & 15) * x[i + 3] + ((eight >> 28) & 15) * x[i + 19];
        }
        total += halves[head & 65535] * (a + b + c + d) + halves[head >>> 16] * sums[block];
      }
      result[row] = total;
    }
  }

  #q8(offset, x, result) {
    const { signed, shorts } = this;
    for (let row = 0, at = offset; row < result.length; row++) {
      let total = 0;
      for (let first = 0; first < x.length; first += BLOCK, at += Q8_0) {
        let a = 0;
        let b = 0;
        for (let i = first, n = at + 2; i < first + BLOCK; i += 2, n += 2) {
          a += signed[n] * x[i];
          b += signed[n + 1] * x[i + 1];
        }
        total += halves[shorts[at >> 1]] * (a + b);
      }
      result[row] = total;
    }
  }

  #f32(weights, x, result) {
    for (let row = 0, at = 0; row < result.length; row++) {
      let total = 0;
      for (let i = 0; i < x.length; i++, at++) total += weights[at] * x[i];
      result[row] = total;
    }
  }
}

const kernelBytes = () => Uint8Array.from(atob(KERNELS), (letter) => letter.charCodeAt(0));

function hasSimd() {
  return typeof WebAssembly === "object" && WebAssembly.validate(kernelBytes());
}
