// What a picture draws of a text that was read, as `home/machine.py` does it, and its message.

import { highest } from "./sampling.js";

const ROWS = 14; // tokens of the machine, the last ones
const LISTED = 10; // predictions for each

// An array with a shape, as the pictures take it.
function array(Kind, shape, values) {
  const made = Kind.from(values);
  made.shape = shape;
  return made;
}

const size = (vector) => Math.sqrt(vector.reduce((sum, one) => sum + one * one, 0));
const range = (count) => Array.from({ length: count }, (_, i) => i);

// The numbers of the machine: see llmviz/course/lessons/home/machine.py, whose names these are.
export function machineValues({ model, cache }, textOf) {
  const { n_layer, n_head, n_embd } = model.config;
  const first = Math.max(0, cache.length - ROWS);
  const rows = range(cache.length - first).map((row) => first + row);
  const [layers, heads] = [range(n_layer), range(n_head)];
  const each = (Kind, shape, lists) => array(Kind, shape, lists.flat(Infinity));
  // Of queries (0), keys (1) or values (2), the length for each layer, head and row.
  const lengths = (which) =>
    each(
      Float32Array,
      [n_layer, n_head, rows.length],
      layers.map((layer) => heads.map((head) => rows.map((row) => size(model.partOf(cache.seen[row], layer, which, head))))),
    );
  const added = (name) =>
    each(
      Float32Array,
      [n_layer, rows.length],
      layers.map((layer) => rows.map((row) => size(cache.seen[row][name][layer]))),
    );
  const weight = (layer, head, row, column) => cache.weights[layer][head][row][column] ?? 0;
  // Row by row, and the softmax of the listed tokens alone: a number for each token of a real model takes 0.4 MB.
  const told = rows.map((row) => {
    const scores = model.logits(cache.seen[row].vectors.at(-1));
    const best = highest(scores, LISTED);
    let sum = 0;
    for (const score of scores) sum += Math.exp(score - scores[best[0]]);
    return best.map((id) => ({ id, score: scores[id], chance: Math.exp(scores[id] - scores[best[0]]) / sum }));
  });
  const shape = [rows.length, told[0].length];
  const vectors = Object.assign(new Float32Array((n_layer + 1) * rows.length * n_embd), { shape: [n_layer + 1, rows.length, n_embd] });
  for (let layer = 0, at = 0; layer <= n_layer; layer++)
    for (const row of rows) {
      vectors.set(cache.seen[row].vectors[layer], at);
      at += n_embd;
    }
  const listed = (value) => told.map((best) => best.map(value));
  return {
    vectors,
    weights: each(
      Float32Array,
      [n_layer, n_head, rows.length, rows.length],
      layers.map((layer) => heads.map((head) => rows.map((row) => rows.map((column) => weight(layer, head, row, column))))),
    ),
    earlier: each(
      Float32Array,
      [n_layer, n_head, rows.length],
      layers.map((layer) =>
        heads.map((head) => rows.map((row) => range(first).reduce((sum, column) => sum + weight(layer, head, row, column), 0))),
      ),
    ),
    queries: lengths(0),
    keys: lengths(1),
    values: lengths(2),
    attention: added("attention"),
    mlp: added("mlp"),
    top_ids: each(
      Int32Array,
      shape,
      listed(({ id }) => id),
    ),
    top_logits: each(
      Float32Array,
      shape,
      listed(({ score }) => score),
    ),
    top_probabilities: each(
      Float32Array,
      shape,
      listed(({ chance }) => chance),
    ),
    rest: array(
      Float32Array,
      [rows.length],
      told.map((best) => Math.max(0, 1 - best.reduce((sum, { chance }) => sum + chance, 0))),
    ),
    top_texts: listed(({ id }) => textOf(id)),
  };
}

// The weights of every head among the last `most` tokens, one byte each: see components/heads_grid.
export function headCells({ model, cache }, most) {
  const first = Math.max(0, cache.length - most);
  const cells = [];
  for (const layer of range(model.config.n_layer))
    for (const head of range(model.config.n_head))
      for (let row = first; row < cache.length; row++)
        for (let column = first; column <= row; column++) cells.push(Math.round(255 * cache.weights[layer][head][row][column]));
  return array(Uint8Array, [cells.length], cells);
}

// A message as Python packs it (see components/_shared/transport.py).
export function packed(payload, key) {
  const encode = (text) => new TextEncoder().encode(text);
  const blobs = [];
  let offset = 0;
  const named = JSON.stringify(payload, (_, value) => {
    if (!ArrayBuffer.isView(value)) return value;
    const type = { Float32Array: "float32", Int32Array: "int32", Uint8Array: "uint8" }[value.constructor.name];
    const reference = { $array: [type, value.shape, offset] };
    blobs.push([offset, new Uint8Array(value.buffer, value.byteOffset, value.byteLength)]);
    offset += Math.ceil(value.byteLength / 4) * 4;
    return reference;
  });
  let head = encode(named);
  head = encode(named + " ".repeat((4 - (head.length % 4)) % 4));
  const end = encode(JSON.stringify({ key, turns: {}, words: globalThis.llmvizSite?.inPictures }));
  const message = new Uint8Array(4 + head.length + offset + end.length + 4);
  const view = new DataView(message.buffer);
  view.setUint32(0, head.length, true);
  message.set(head, 4);
  for (const [at, blob] of blobs) message.set(blob, 4 + head.length + at);
  message.set(end, 4 + head.length + offset);
  view.setUint32(message.length - 4, end.length, true);
  return message;
}
