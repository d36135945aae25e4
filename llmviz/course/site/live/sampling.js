// From logits to a token, as llmviz/sampling/steps.py does it. A cut token has the logit -Infinity.
// Of equal logits the token with the lowest id comes first.

import { softmax } from "./model.js";

const TOLERANCE = 1e-12; // rounding in a running sum must not push it past p

export function withTemperature(logits, temperature) {
  if (temperature === 0) return keepTopK(logits, 1);
  return Float64Array.from(logits, (one) => one / temperature);
}

function keepTopK(logits, k) {
  const kept = new Float64Array(logits.length).fill(-Infinity);
  for (const id of ranked(logits).slice(0, k)) kept[id] = logits[id];
  return kept;
}

// The fewest tokens whose probabilities reach p together.
function keepTopP(logits, p) {
  if (p >= 1) return Float64Array.from(logits);
  const probabilities = softmax(logits);
  let sum = 0;
  let count = 0;
  for (const id of ranked(logits)) {
    count++;
    sum += probabilities[id];
    if (sum >= p - TOLERANCE) break;
  }
  return keepTopK(logits, count);
}

// The probabilities (V) from which the token is drawn.
export function sampled(logits, { temperature, topK, topP }) {
  const warm = withTemperature(logits, temperature);
  return softmax(keepTopP(keepTopK(warm, topK), topP));
}

// The token on which u (from 0, below 1) falls: the first whose running sum is above it.
export function draw(probabilities, u) {
  let sum = 0;
  let last = 0;
  for (let id = 0; id < probabilities.length; id++) {
    if (!probabilities[id]) continue;
    sum += probabilities[id];
    last = id;
    if (sum > u) return id;
  }
  return last;
}

export function ranked(logits) {
  return Array.from(logits, (_, id) => id).sort((a, b) => logits[b] - logits[a] || a - b);
}

// The first ids of `ranked`, without putting all others in order.
export function highest(logits, count) {
  const best = [];
  for (let id = 0; id < logits.length; id++) {
    if (best.length === count && logits[id] <= logits[best[count - 1]]) continue;
    let at = best.length === count ? count - 1 : best.length;
    for (; at > 0 && logits[id] > logits[best[at - 1]]; at--) best[at] = best[at - 1];
    best[at] = id;
  }
  return best;
}
