// A GPT and the letter-pair network learn from a list of texts, a batch at a time; pair counts beside them.

import { AdamW, LearningGPT, Pairs } from "./gpt_backward.js";
import { Model, softmax } from "./model.js";
import { say } from "./said.js";
import { draw } from "./sampling.js";
import { Characters } from "./tokens.js";

export const LEAST = 50; // characters of a text, and the most that is read of it
export const MOST = 200_000;
const SIGNS = 200; // different characters; rarer ones become one sign
const DEEPEST = 32; // tokens that the model looks back over, at most
const HELD = 10; // every so many-th text is held out
const MEASURED = 3000; // tokens held out, at most
const PAIR_RATE = 0.05;
const WARM = 50; // steps over which the learning rate rises
const SMOOTHING = 0.1; // added to each count of a pair, so that none is impossible
const SHARE = 6; // so many times as long as measuring takes, it learns before the next time
const SAMPLES = 6;

// Numbers from 0 up to 1, the same for the same seed (mulberry32); `state` is where it stands.
class Chance {
  constructor(state) {
    this.state = state;
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  normal() {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }
}

// The texts that a visitor's own text has, a line each, and which of them are held out. A text of few
// lines is one text, whose end is held out. Raises RangeError for one that is too short.
export function divided(text) {
  const signs = [...text];
  const whole = signs.length > MOST ? signs.slice(0, MOST).join("") : text;
  const lines = whole.split(/\r?\n/).filter((line) => line.trim());
  const letters = lines.reduce((sum, line) => sum + [...line].length, 0);
  if (letters < LEAST)
    throw new RangeError(
      letters
        ? say("{count} characters are too few to learn from.", { count: letters })
        : say("An empty text gives nothing to learn from."),
    );
  if (lines.length >= 2 * HELD) {
    const held = lines.filter((_, i) => i % HELD === HELD - 1);
    return { learned: lines.filter((_, i) => i % HELD !== HELD - 1), held };
  }
  const all = [...lines.join("\n")];
  const at = Math.floor(all.length * (1 - 1 / HELD));
  return { learned: [all.slice(0, at).join("")], held: [all.slice(at).join("")] };
}

// Ids and targets of texts, in rows of at most `context` tokens: `padded` of llmviz/training/data.py.
export function rowsOf(texts, tokenizer, context) {
  const rows = [];
  for (const text of texts) {
    const ids = tokenizer.encode(text);
    const [read, next] = [
      [tokenizer.end, ...ids],
      [...ids, tokenizer.end],
    ];
    for (let at = 0; at < read.length; at += context) rows.push([read.slice(at, at + context), next.slice(at, at + context)]);
  }
  return rows;
}

function batchOf(rows) {
  const starts = [0];
  for (const [ids] of rows) starts.push(starts.at(-1) + ids.length);
  return {
    ids: Int32Array.from(rows.flatMap(([ids]) => ids)),
    targets: Int32Array.from(rows.flatMap(([, targets]) => targets)),
    starts,
  };
}

// The mean loss on `held` of what was counted in `learned`: how often each token follows each other.
export function countedLoss(learned, held, size) {
  const counts = new Float64Array(size * size).fill(SMOOTHING);
  for (const [ids, targets] of learned) for (const [i, id] of ids.entries()) counts[id * size + targets[i]]++;
  let [loss, tokens] = [0, 0];
  for (const [ids, targets] of held)
    for (const [i, id] of ids.entries()) {
      const row = counts.subarray(id * size, (id + 1) * size);
      loss -= Math.log(row[targets[i]] / row.reduce((a, b) => a + b, 0));
      tokens++;
    }
  return loss / tokens;
}

export class Learning {
  // plan: `learned` and `held` texts, `layers` and `width` of the GPT, `rate`, `seed`.
  // kept: what `kept` gave, to go on from there.
  constructor(plan, kept = null) {
    const { learned, held, layers, width, rate, seed } = plan;
    const counts = new Map();
    for (const text of learned) for (const sign of text) counts.set(sign, (counts.get(sign) ?? 0) + 1);
    const common = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1)).slice(0, SIGNS);
    const vocabulary = common.sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
    const end = vocabulary.length;
    this.tokenizer = new Characters({ vocabulary, end, unknown: end + 1 });
    this.size = end + 2;
    const longest = learned.reduce((most, text) => Math.max(most, [...text].length + 1), 0);
    const context = Math.min(DEEPEST, Math.max(DEEPEST / 2, longest));
    this.rows = rowsOf(learned, this.tokenizer, context);
    this.held = [];
    for (let [tokens, rest] = [0, rowsOf(held, this.tokenizer, context)]; rest.length && tokens < MEASURED; ) {
      const [row] = rest.splice(0, 1);
      this.held.push(row);
      tokens += row[0].length;
    }
    this.batch = context > DEEPEST / 2 ? 16 : 32;
    this.rate = rate;
    this.counted = countedLoss(this.rows, this.held, this.size);
    this.known = new Set(learned);
    const config = { n_layer: layers, n_head: 4, n_embd: width, vocab_size: this.size, context_length: context, norm_epsilon: 1e-5 };
    this.gpt = new LearningGPT(config);
    this.pairs = new Pairs(this.size);
    this.ways = [new AdamW(this.gpt), new AdamW(this.pairs, { decay: 0 })];
    this.chance = new Chance(seed);
    this.step = this.milliseconds = 0;
    this.order = [];
    this.costs = this.spent = 0; // milliseconds: measuring the last time, and learning since then
    if (!kept) this.gpt.begin(() => this.chance.normal());
    else {
      for (const [i, way] of this.ways.entries()) {
        way.tensors.values.set(kept.ways[i].values);
        way.mean.set(kept.ways[i].mean);
        way.squares.set(kept.ways[i].squares);
        way.count = kept.step;
      }
      [this.step, this.milliseconds, this.chance.state, this.order] = [kept.step, kept.milliseconds, kept.chance, [...kept.order]];
    }
  }

  // All that is needed to go on from here.
  kept() {
    const ways = this.ways.map(({ tensors, mean, squares }) => ({
      values: tensors.values.slice(),
      mean: mean.slice(),
      squares: squares.slice(),
    }));
    const { step, milliseconds, order } = this;
    return { ways, step, milliseconds, order: [...order], chance: this.chance.state };
  }

  // One update of both models on the same batch; returns their losses on it.
  learn() {
    if (this.order.length < this.batch) {
      this.order = Array.from(this.rows.keys());
      for (let i = this.order.length - 1; i > 0; i--) {
        const other = Math.floor(this.chance.next() * (i + 1));
        [this.order[i], this.order[other]] = [this.order[other], this.order[i]];
      }
    }
    const batch = batchOf(this.order.splice(-this.batch).map((row) => this.rows[row]));
    const warm = Math.min(1, ++this.step / WARM);
    const losses = [this.gpt, this.pairs].map((model) => model.loss(batch, true));
    this.ways[0].step(warm * this.rate);
    this.ways[1].step(warm * PAIR_RATE);
    return losses;
  }

  // The losses of both on the texts that are held out, and what the GPT writes now.
  measured() {
    const sums = [0, 0];
    let tokens = 0;
    for (let at = 0; at < this.held.length; at += this.batch) {
      const batch = batchOf(this.held.slice(at, at + this.batch));
      for (const [i, model] of [this.gpt, this.pairs].entries()) sums[i] += model.loss(batch, false) * batch.ids.length;
      tokens += batch.ids.length;
    }
    return { step: this.step, losses: sums.map((sum) => sum / tokens), samples: this.samples() };
  }

  // Texts from the same random numbers each time, so that only what was learned makes them differ.
  samples() {
    const chance = new Chance(1);
    const model = new Model(this.gpt.config, this.gpt.weights);
    return Array.from({ length: SAMPLES }, () => {
      const cache = model.begin();
      let [id, text] = [this.tokenizer.end, ""];
      while (cache.length < this.gpt.config.context_length) {
        const logits = model.step(cache, id);
        logits[this.tokenizer.unknown] = -Infinity; // it stands for no letter
        id = draw(softmax(logits), chance.next());
        if (id === this.tokenizer.end) break;
        text += this.tokenizer.vocabulary[id];
      }
      return { text, known: this.known.has(text) };
    });
  }

  // What is told of it now: its losses on what is held out, and what it writes.
  look(now = () => performance.now()) {
    const begun = now();
    const measured = this.measured();
    [this.spent, this.costs] = [0, now() - begun];
    this.milliseconds += this.costs;
    const { step, counted, size } = this;
    return { step, counted, blind: Math.log(size), numbers: this.gpt.size, measured, kept: this.kept() };
  }

  // Learn for so many milliseconds, and measure where it is time; returns what is to be told of it.
  advance(most, now = () => performance.now()) {
    const [begun, before, sums] = [now(), this.step, [0, 0]];
    do for (const [i, loss] of this.learn().entries()) sums[i] += loss;
    while (now() - begun < most);
    const [took, count] = [now() - begun, this.step - before];
    this.spent += took;
    this.milliseconds += took;
    const told = this.spent > SHARE * this.costs ? this.look(now) : { step: this.step };
    return { ...told, seconds: this.milliseconds / 1000, losses: sums.map((sum) => sum / count), pace: (1000 * count) / took };
  }
}
