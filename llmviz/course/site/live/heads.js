// What single heads of a model do on a text that a watched reader has read: where each looks, and what the
// model says without one of them.

import { headCells } from "./reading.js";
import { say } from "./said.js";

const TRIED = 4;

// The heads that give most, from the last token, to one word that is neither the first nor the last: it is the
// one that some head looks at hardest. Many heads look at the first token when they have nothing to find.
export function hardest({ cache, ids }) {
  const heads = cache.weights.flatMap((some, layer) => some.map((rows, head) => ({ place: [layer, head], row: rows.at(-1) })));
  const most = (at) => Math.max(...heads.map(({ row }) => row[at]));
  const between = ids.map((_, at) => at).slice(1, -1);
  const word = between.reduce((best, at) => (most(at) > most(best) ? at : best), between[0] ?? 0);
  return heads
    .sort((a, b) => b.row[word] - a.row[word])
    .slice(0, TRIED)
    .map(({ place }) => place);
}

// The logits (V) behind the text when a head is switched off. Nothing before its layer can change, so the
// vectors enter there. pause: is waited for after each token.
export async function logitsWithout({ model, cache }, [layer, head], pause = () => {}) {
  const less = model.begin({ most: cache.length, watched: false, off: [layer, head] });
  for (const { vectors } of cache.seen) {
    model.through(less, vectors[layer], layer);
    await pause();
  }
  return model.logits(less.seen.at(-1).vectors.at(-1));
}

const numbered = (text, many) => Array.from({ length: many }, (_, at) => say(text, { at }));

// What the grid of all heads is told: see llmviz/course/components/heads_grid/view.py.
export function gridOf(reader, tokens, { chosen, lines = false }) {
  const { n_layer, n_head } = reader.model.config;
  return {
    shape: [n_layer, n_head, tokens.length, tokens.length],
    triangle: true,
    cells: headCells(reader, tokens.length),
    rowNames: numbered("layer {at}", n_layer),
    columnNames: numbered("head {at}", n_head),
    tokens,
    keyTokens: tokens,
    notes: null,
    covered: null,
    lines,
    chosen,
  };
}

// What the arcs of one head are told: see llmviz/course/components/look_back/view.py.
export function lookOf({ cache }, [layer, head], tokens, { name, words }) {
  const count = tokens.length;
  const cells = Object.assign(new Uint8Array(count * count), { shape: [1, count, count] });
  for (const [row, weights] of cache.weights[layer][head].entries())
    for (const [column, weight] of weights.entries()) cells[row * count + column] = Math.round(255 * weight);
  return { cells, names: [name], tokens, words, covered: [], ghost: null, asking: count - 1 };
}
