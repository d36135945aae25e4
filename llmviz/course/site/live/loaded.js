// A model as its page loads it, and reading a text with it.

import { unpack } from "../../components/_shared/message.js";
import { halves } from "./halves.js";
import { Model } from "./model.js";
import { BytePairs, Characters } from "./tokens.js";

// A model of the course from its packed form, or a tokenizer alone, with the names of engine.js.
export function smallModel(message) {
  const { config, tokenizer: known, names, tensors, weights, machine } = unpack(message);
  const tokenizer = tokenizerOf(known);
  const [start, ends] = [[tokenizer.end], [tokenizer.end]];
  const shared = { tokenizer, names, nameOf: (id) => names[id], start, ends, machine, cuts: true };
  if (!config) return shared;
  const model = new Model(config, unpacked(tensors, weights));
  return { ...shared, model, reader: new Reader(model), most: config.context_length };
}

function unpacked(tensors, weights) {
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
  return known;
}

export const TURN = 60; // milliseconds after which a reading hears whether something else is wanted

// Reads ids, keeping what it knows of those that it has read already. options: as of Model.begin.
export class Reader {
  constructor(model, options) {
    this.model = model;
    this.cache = model.begin(options);
    this.ids = [];
  }

  // The logits behind ids.
  read(ids) {
    for (const id of this.#unread(ids)) this.#one(id);
    return this.#logits();
  }

  // The same in turns; null where `current` says that something else is wanted meanwhile.
  async paced(ids, current, tell = () => {}) {
    let turn = performance.now();
    for (const id of this.#unread(ids)) {
      this.#one(id);
      if (performance.now() - turn < TURN) continue;
      tell({ reading: this.ids.length, of: ids.length });
      await new Promise((done) => setTimeout(done));
      if (!current()) return null;
      turn = performance.now();
    }
    return this.#logits();
  }

  #logits() {
    return this.model.logits(this.cache.seen.at(-1).vectors.at(-1));
  }

  #one(id) {
    this.model.read(this.cache, id);
    this.ids.push(id);
  }

  // Go back to where ids begin to differ from what was read; returns those that follow.
  #unread(ids) {
    const { cache } = this;
    let same = 0;
    while (same < this.ids.length && this.ids[same] === ids[same]) same++;
    if (same === ids.length) same--; // what is kept of the last one may be of a longer text
    this.ids.length = cache.length = cache.seen.length = same;
    for (const heads of cache.weights) for (const rows of heads) rows.length = Math.min(rows.length, same);
    return ids.slice(same);
  }
}

export function tokenizerOf(known) {
  return known.merges ? new BytePairs(known) : new Characters(known);
}
