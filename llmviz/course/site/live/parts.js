// The steps of a model as functions of what a visitor types: learning merges, comparing two vectors,
// attention on small matrices. As in llmviz/tokenizers/training.py, llmviz/similarity, llmviz/nn/attention.

import { softmax } from "./model.js";
import { bytesOf, PIECES } from "./tokens.js";

// The merges that byte-pair encoding learns from a text, at most `most`: each with its pair, how
// often this pair stood in the text, and how many tokens the text had afterwards. Of equally frequent
// pairs the one with the smallest ids is taken.
export function learned(text, most) {
  let pieces = (text.match(PIECES) ?? []).map((piece) => [...bytesOf(piece)]);
  const steps = [];
  while (steps.length < most) {
    const counts = new Map();
    for (const ids of pieces)
      for (let i = 0; i + 1 < ids.length; i++) {
        const key = ids[i] * 65536 + ids[i + 1];
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    let best = null;
    for (const [key, count] of counts) {
      if (!best || count > best.count || (count === best.count && key < best.key)) best = { key, count };
    }
    if (!best) break;
    const pair = [Math.floor(best.key / 65536), best.key % 65536];
    pieces = pieces.map((ids) => merged(ids, pair, 256 + steps.length));
    steps.push({ pair, count: best.count, length: pieces.reduce((sum, ids) => sum + ids.length, 0) });
  }
  return { steps, pieces };
}

// A list of ids in which each pair, from left to right, has become one token.
export function merged(ids, [a, b], token) {
  const next = [];
  for (let i = 0; i < ids.length; i++) {
    const joins = ids[i] === a && ids[i + 1] === b;
    next.push(joins ? token : ids[i]);
    if (joins) i++;
  }
  return next;
}

export const dot = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);
export const length = (a) => Math.sqrt(dot(a, a));

// The cosine of the angle between two vectors; null where one has no direction.
export function cosine(a, b) {
  const lengths = length(a) * length(b);
  return lengths > 0 ? Math.max(-1, Math.min(1, dot(a, b) / lengths)) : null;
}

// Attention: Q, K (T, D) and V (T, D') as lists of rows; causal: no row sees those after it.
export function attention(q, k, v, causal) {
  const root = Math.sqrt(q[0].length);
  const scores = q.map((query) => k.map((key) => dot(query, key)));
  const scaled = scores.map((row) => row.map((score) => score / root));
  const masked = scaled.map((row, i) => row.map((score, j) => (causal && j > i ? -Infinity : score)));
  const weights = masked.map((row) => [...softmax(row)]);
  const output = weights.map((row) =>
    v[0].map((_, column) =>
      dot(
        row,
        v.map((one) => one[column]),
      ),
    ),
  );
  return { scores, scaled, masked, weights, output };
}
