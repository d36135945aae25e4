// A model as its page loads it, and reading a text with it.

import { unpack } from "../../components/_shared/message.js";
import { Model } from "./model.js";
import { BytePairs, Characters } from "./tokens.js";

// The numbers of float16, each as a number: all 65,536 are few.
const halves = new Float32Array(65536);
for (let bits = 0; bits < 65536; bits++) {
  const exponent = (bits >> 10) & 31;
  const digits = (bits & 1023) / 1024;
  const size = exponent === 31 ? (digits ? NaN : Infinity) : exponent ? 2 ** (exponent - 15) * (1 + digits) : 2 ** -14 * digits;
  halves[bits] = bits >> 15 ? -size : size;
}

// A model from its packed form: its settings, its tokenizer and its weights.
export function opened(message) {
  const { config, tokenizer, names, tensors, weights, machine } = unpack(message);
  const raw = new DataView(weights.buffer, weights.byteOffset, weights.byteLength);
  const known = {};
  let at = 0;
  const half = () => halves[raw.getUint16((at += 2) - 2, true)];
  for (const [name, count, rows] of tensors) {
    known[name] = new Float32Array(count);
    if (!rows) for (let i = 0; i < count; i++) known[name][i] = half();
    else {
      // int8: whole numbers, then for each row the step that they count.
      for (let i = 0; i < count; i++) known[name][i] = raw.getInt8(at++);
      const width = count / rows;
      for (let row = 0; row < rows; row++) {
        const step = half();
        for (let i = row * width; i < (row + 1) * width; i++) known[name][i] *= step;
      }
    }
  }
  return { model: new Model(config, known), tokenizer: tokenizerOf(tokenizer), names, machine };
}

// Reads ids, keeping what it knows of those that it has read already.
export class Reader {
  constructor(model) {
    this.model = model;
    this.cache = model.begin();
    this.ids = [];
    this.logits = null;
  }

  read(ids) {
    let same = 0;
    while (same < this.ids.length && this.ids[same] === ids[same]) same++;
    if (same === ids.length) same--; // its logits were those of an earlier call
    this.cache.length = same;
    this.cache.seen.length = same;
    for (const heads of this.cache.weights) for (const rows of heads) rows.length = same;
    for (const id of ids.slice(same)) this.logits = this.model.step(this.cache, id);
    this.ids = [...ids];
    return this.logits;
  }
}

export function tokenizerOf(known) {
  return known.merges ? new BytePairs(known) : new Characters(known);
}
