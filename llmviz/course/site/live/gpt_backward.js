// The GPT of model.js on many texts at once, with its gradients: the backward pass, written by hand.
// N tokens of all texts, C width, H heads, D = C / H, V vocabulary. Every array is row after row.

import { add } from "./model.js";

const ROOT = Math.sqrt(2 * Math.PI);

// Weights and gradients as one array each, with a view for every tensor by its name in llmviz.
export class Tensors {
  constructor(shapes) {
    this.shapes = shapes;
    this.size = shapes.reduce((sum, [, rows, columns]) => sum + rows * columns, 0);
    this.values = new Float32Array(this.size);
    this.gradient = new Float32Array(this.size);
    [this.weights, this.gradients] = [this.values, this.gradient].map((all) => {
      let at = 0;
      return Object.fromEntries(shapes.map(([name, rows, columns]) => [name, all.subarray(at, (at += rows * columns))]));
    });
  }
}

// The letter-pair network (llmviz/models/bigram.py): row i of its table holds the logits after token i.
export class Pairs extends Tensors {
  constructor(vocabulary) {
    super([["table.weight", vocabulary, vocabulary]]);
    this.vocabulary = vocabulary;
  }

  // The mean loss of a batch, in nats a token; learns: its gradient is left in `gradient`.
  loss({ ids, targets }, learns) {
    const size = this.vocabulary;
    const logits = new Float32Array(ids.length * size);
    for (const [n, id] of ids.entries()) logits.set(this.values.subarray(id * size, (id + 1) * size), n * size);
    const loss = crossEntropy(logits, targets, size);
    if (!learns) return loss;
    this.gradient.fill(0);
    for (const [n, id] of ids.entries()) for (let i = 0; i < size; i++) this.gradient[id * size + i] += logits[n * size + i];
    return loss;
  }
}

export class LearningGPT extends Tensors {
  // config: as that of Model in model.js.
  constructor(config) {
    const { n_layer, n_embd: width, vocab_size, context_length } = config;
    const linear = (name, rows, columns) => [
      [`${name}.weight`, rows, columns],
      [`${name}.bias`, rows, 1],
    ];
    const norm = (name) => linear(name, width, 1);
    const blocks = Array.from({ length: n_layer }, (_, layer) => `blocks.${layer}`).flatMap((name) => [
      ...norm(`${name}.norm1`),
      ...norm(`${name}.norm2`),
      ...linear(`${name}.attn.qkv`, 3 * width, width),
      ...linear(`${name}.attn.projection`, width, width),
      ...linear(`${name}.mlp.hidden`, 4 * width, width),
      ...linear(`${name}.mlp.output`, width, 4 * width),
    ]);
    super([["token.weight", vocab_size, width], ["position.weight", context_length, width], ...blocks, ...norm("norm_final")]);
    this.config = config;
    this.rooms = new Map();
  }

  // Initial weights as in llmviz/models/gpt.py: normal with deviation 0.02, less where a layer adds to
  // the residual stream; scales 1, shifts 0. normal: gives numbers of the standard normal distribution.
  begin(normal) {
    for (const [name, , columns] of this.shapes) {
      const weight = this.weights[name];
      const added = /(attn\.projection|mlp\.output)\.weight$/.test(name);
      const deviation = 0.02 / (added ? Math.sqrt(2 * this.config.n_layer) : 1);
      if (columns > 1) for (let i = 0; i < weight.length; i++) weight[i] = deviation * normal();
      else weight.fill(name.endsWith("weight") ? 1 : 0);
    }
  }

  // An array of zeros that is made once for each name and used again in each step.
  room(name, size) {
    if (!(this.rooms.get(name)?.length >= size)) this.rooms.set(name, new Float32Array(size));
    return this.rooms.get(name).subarray(0, size).fill(0);
  }

  // The mean loss of a batch, in nats a token; learns: its gradient is left in `gradient`.
  // batch: ids and targets (N) of texts one after the other, and `starts`, where each begins, N at the end.
  loss(batch, learns) {
    const { n_layer, n_embd: width, vocab_size } = this.config;
    const { ids, targets, starts } = batch;
    const count = ids.length;
    const token = this.weights["token.weight"];
    const place = this.weights["position.weight"];
    const x = this.room("x", count * width);
    for (let row = 0; row + 1 < starts.length; row++)
      for (let n = starts[row]; n < starts[row + 1]; n++)
        for (let i = 0; i < width; i++) x[n * width + i] = token[ids[n] * width + i] + place[(n - starts[row]) * width + i];
    const blocks = Array.from({ length: n_layer }, (_, layer) => this.block(`blocks.${layer}`, x, starts));
    const last = this.norm("norm_final", x);
    const logits = this.room("logits", count * vocab_size);
    addProduct(logits, last.y, this.turned("token.weight", vocab_size, width), count, width, vocab_size);
    const loss = crossEntropy(logits, targets, vocab_size);
    if (learns) this.backward(batch, blocks, last, logits);
    return loss;
  }

  // One block: attention and feed-forward, each added to x. What the backward pass needs is returned.
  block(name, x, starts) {
    const norm1 = this.norm(`${name}.norm1`, x);
    const qkv = this.linear(`${name}.attn.qkv`, norm1.y);
    const attention = this.attend(name, qkv, starts);
    add(x, this.linear(`${name}.attn.projection`, attention.taken));
    const norm2 = this.norm(`${name}.norm2`, x);
    const hidden = this.linear(`${name}.mlp.hidden`, norm2.y);
    const act = this.room(`${name}.act`, hidden.length);
    const slope = this.room(`${name}.slope`, hidden.length);
    bend(hidden, act, slope);
    add(x, this.linear(`${name}.mlp.output`, act));
    return { name, norm1, qkv, attention, norm2, act, slope };
  }

  backward({ ids, starts }, blocks, last, logits) {
    const { n_embd: width, vocab_size } = this.config;
    const count = ids.length;
    this.gradient.fill(0);
    const token = this.gradients["token.weight"];
    // The head is the matrix of the tokens (a tied head): it gets a gradient here and at the end.
    addProduct(token, logits, last.y, vocab_size, count, width, 1, vocab_size);
    const above = this.room("back.head", count * width);
    addProduct(above, logits, this.weights["token.weight"], count, vocab_size, width);
    const dx = this.room("back.x", count * width);
    this.normBack("norm_final", last, above, dx);
    for (const { name, norm1, qkv, attention, norm2, act, slope } of blocks.toReversed()) {
      const hidden = this.linearBack(`${name}.mlp.output`, act, dx);
      for (let i = 0; i < hidden.length; i++) hidden[i] *= slope[i];
      this.normBack(`${name}.norm2`, norm2, this.linearBack(`${name}.mlp.hidden`, norm2.y, hidden), dx);
      const taken = this.linearBack(`${name}.attn.projection`, attention.taken, dx);
      const asked = this.attendBack(name, qkv, attention.shares, taken, starts);
      this.normBack(`${name}.norm1`, norm1, this.linearBack(`${name}.attn.qkv`, norm1.y, asked), dx);
    }
    const place = this.gradients["position.weight"];
    for (let row = 0; row + 1 < starts.length; row++)
      for (let n = starts[row]; n < starts[row + 1]; n++)
        for (let i = 0; i < width; i++) {
          token[ids[n] * width + i] += dx[n * width + i];
          place[(n - starts[row]) * width + i] += dx[n * width + i];
        }
  }

  // A matrix (rows, columns) with rows and columns exchanged.
  turned(name, rows, columns) {
    const weight = this.weights[name];
    const turned = this.room(`turned.${name}`, weight.length);
    for (let row = 0; row < rows; row++) for (let i = 0; i < columns; i++) turned[i * rows + row] = weight[row * columns + i];
    return turned;
  }

  // x·Wᵀ + b for x (N, in).
  linear(name, x) {
    const bias = this.weights[`${name}.bias`];
    const columns = bias.length;
    const inner = this.weights[`${name}.weight`].length / columns;
    const count = x.length / inner;
    const y = this.room(name, count * columns);
    for (let n = 0; n < count; n++) y.set(bias, n * columns);
    addProduct(y, x, this.turned(`${name}.weight`, columns, inner), count, inner, columns);
    return y;
  }

  // From the gradient of y = x·Wᵀ + b: those of W and b are added up, that of x is returned.
  linearBack(name, x, dy) {
    const bias = this.gradients[`${name}.bias`];
    const [weight, columns] = [this.weights[`${name}.weight`], bias.length];
    const inner = weight.length / columns;
    const count = x.length / inner;
    for (let n = 0; n < count; n++) for (let i = 0; i < columns; i++) bias[i] += dy[n * columns + i];
    addProduct(this.gradients[`${name}.weight`], dy, x, columns, count, inner, 1, columns);
    const dx = this.room(`back.${name}`, x.length);
    addProduct(dx, dy, weight, count, columns, inner);
    return dx;
  }

  // Layer norm: mean 0 and variance 1 (`even`), then a scale and a shift for each number.
  norm(name, x) {
    const { n_embd: width, norm_epsilon } = this.config;
    const [scale, shift] = [this.weights[`${name}.weight`], this.weights[`${name}.bias`]];
    const [even, y] = [this.room(`${name}.even`, x.length), this.room(name, x.length)];
    const roots = this.room(`${name}.roots`, x.length / width);
    for (let n = 0, at = 0; n < roots.length; n++, at += width) {
      let [mean, variance] = [0, 0];
      for (let i = 0; i < width; i++) mean += x[at + i] / width;
      for (let i = 0; i < width; i++) variance += (x[at + i] - mean) ** 2 / width;
      roots[n] = 1 / Math.sqrt(variance + norm_epsilon);
      for (let i = 0; i < width; i++) {
        even[at + i] = (x[at + i] - mean) * roots[n];
        y[at + i] = even[at + i] * scale[i] + shift[i];
      }
    }
    return { even, roots, y };
  }

  // The gradient of x is added to dx.
  normBack(name, { even, roots }, dy, dx) {
    const width = this.config.n_embd;
    const scale = this.weights[`${name}.weight`];
    const [dscale, dshift] = [this.gradients[`${name}.weight`], this.gradients[`${name}.bias`]];
    for (let n = 0, at = 0; n < roots.length; n++, at += width) {
      let [mean, along] = [0, 0];
      for (let i = 0; i < width; i++) {
        dscale[i] += dy[at + i] * even[at + i];
        dshift[i] += dy[at + i];
        mean += (dy[at + i] * scale[i]) / width;
        along += (dy[at + i] * scale[i] * even[at + i]) / width;
      }
      for (let i = 0; i < width; i++) dx[at + i] += roots[n] * (dy[at + i] * scale[i] - mean - even[at + i] * along);
    }
  }

  // Runs `work` for each head of each text: where its queries begin, its length, its place in `shares`.
  heads(starts, work) {
    const { n_head, n_embd: width } = this.config;
    let at = 0;
    for (let row = 0; row + 1 < starts.length; row++) {
      const length = starts[row + 1] - starts[row];
      for (let head = 0; head < n_head; head++, at += length * length)
        work(starts[row] * 3 * width + (head * width) / n_head, length, at, starts[row] * width + (head * width) / n_head);
    }
    return at;
  }

  // What the heads take from the tokens so far (N, C), and the share that each token has (its weights).
  attend(name, qkv, starts) {
    const { n_head, n_embd: width } = this.config;
    const [size, step] = [width / n_head, 3 * width];
    const shares = this.room(
      `${name}.shares`,
      this.heads(starts, () => {}),
    );
    const taken = this.room(`${name}.taken`, qkv.length / 3);
    this.heads(starts, (first, length, at, out) => {
      for (let row = 0; row < length; row++) {
        const [query, weights] = [first + row * step, at + row * length];
        let most = -Infinity;
        for (let column = 0; column <= row; column++) {
          const key = first + column * step + width;
          let score = 0;
          for (let i = 0; i < size; i++) score += qkv[query + i] * qkv[key + i];
          shares[weights + column] = score / Math.sqrt(size);
          most = Math.max(most, shares[weights + column]);
        }
        let sum = 0;
        for (let column = 0; column <= row; column++) sum += shares[weights + column] = Math.exp(shares[weights + column] - most);
        for (let column = 0; column <= row; column++) {
          const share = (shares[weights + column] /= sum);
          const value = first + column * step + 2 * width;
          for (let i = 0; i < size; i++) taken[out + row * width + i] += share * qkv[value + i];
        }
      }
    });
    return { taken, shares };
  }

  // From the gradient of `taken`, that of queries, keys and values.
  attendBack(name, qkv, shares, dtaken, starts) {
    const { n_head, n_embd: width } = this.config;
    const [size, step] = [width / n_head, 3 * width];
    const dqkv = this.room(`back.${name}.asked`, qkv.length);
    const dshare = new Float32Array(this.config.context_length);
    this.heads(starts, (first, length, at, out) => {
      for (let row = 0; row < length; row++) {
        const [query, weights, from] = [first + row * step, at + row * length, out + row * width];
        let mean = 0;
        for (let column = 0; column <= row; column++) {
          const value = first + column * step + 2 * width;
          let sum = 0;
          for (let i = 0; i < size; i++) {
            sum += dtaken[from + i] * qkv[value + i];
            dqkv[value + i] += shares[weights + column] * dtaken[from + i];
          }
          dshare[column] = sum;
          mean += sum * shares[weights + column];
        }
        for (let column = 0; column <= row; column++) {
          const key = first + column * step + width;
          const score = (shares[weights + column] * (dshare[column] - mean)) / Math.sqrt(size);
          for (let i = 0; i < size; i++) {
            dqkv[query + i] += score * qkv[key + i];
            dqkv[key + i] += score * qkv[query + i];
          }
        }
      }
    });
    return dqkv;
  }
}

// AdamW as in llmviz/training/optimizers.py, with its settings there; only matrices are pulled to zero.
export class AdamW {
  constructor(tensors, { beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8, decay = 0.05, longest = 1 } = {}) {
    Object.assign(this, { tensors, beta1, beta2, epsilon, decay, longest, count: 0 });
    this.mean = new Float32Array(tensors.size);
    this.squares = new Float32Array(tensors.size);
  }

  // One update; a gradient longer than `longest` is shortened to it.
  step(rate) {
    const { beta1, beta2, epsilon, decay, longest, mean, squares } = this;
    const { values, gradient, shapes } = this.tensors;
    this.count++;
    const long = Math.sqrt(gradient.reduce((sum, one) => sum + one * one, 0));
    const less = longest && long > longest ? longest / (long + 1e-6) : 1;
    const [first, second] = [1 - beta1 ** this.count, 1 - beta2 ** this.count];
    let at = 0;
    for (const [, rows, columns] of shapes) {
      const keeps = columns > 1 ? 1 - rate * decay : 1;
      for (const end = at + rows * columns; at < end; at++) {
        const slope = less * gradient[at];
        mean[at] = beta1 * mean[at] + (1 - beta1) * slope;
        squares[at] = beta2 * squares[at] + (1 - beta2) * slope * slope;
        values[at] = keeps * values[at] - (rate * mean[at]) / first / (Math.sqrt(squares[at] / second) + epsilon);
      }
    }
  }
}

// out (rows, columns) += a·b for b (inner, columns). The number of a for row r and place k lies at
// r·down + k·across. Two rows and four places at once, which the processor adds side by side.
function addProduct(out, a, b, rows, inner, columns, down = inner, across = 1) {
  const [even, fours] = [rows - (rows % 2), inner - (inner % 4)];
  for (let r = 0; r < even; r += 2)
    for (let k = 0; k < fours; k += 4) {
      const p = r * down + k * across;
      const q = p + down;
      const a0 = a[p];
      const a1 = a[p + across];
      const a2 = a[p + 2 * across];
      const a3 = a[p + 3 * across];
      const c0 = a[q];
      const c1 = a[q + across];
      const c2 = a[q + 2 * across];
      const c3 = a[q + 3 * across];
      let at = k * columns;
      let o = r * columns;
      for (let i = 0; i < columns; i++, at++, o++) {
        const b0 = b[at];
        const b1 = b[at + columns];
        const b2 = b[at + 2 * columns];
        const b3 = b[at + 3 * columns];
        out[o] += a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3;
        out[o + columns] += c0 * b0 + c1 * b1 + c2 * b2 + c3 * b3;
      }
    }
  for (let r = 0; r < rows; r++)
    for (let k = r < even ? fours : 0; k < inner; k++) {
      const one = a[r * down + k * across];
      for (let i = 0; i < columns; i++) out[r * columns + i] += one * b[k * columns + i];
    }
}

// The mean of −ln p(target) over N rows of logits; in their place stays their gradient.
function crossEntropy(logits, targets, size) {
  const count = targets.length;
  let loss = 0;
  for (let n = 0, at = 0; n < count; n++, at += size) {
    let [most, sum] = [-Infinity, 0];
    for (let i = 0; i < size; i++) most = Math.max(most, logits[at + i]);
    for (let i = 0; i < size; i++) sum += Math.exp(logits[at + i] - most);
    loss += (Math.log(sum) + most - logits[at + targets[n]]) / count;
    for (let i = 0; i < size; i++) logits[at + i] = Math.exp(logits[at + i] - most) / sum / count;
    logits[at + targets[n]] -= 1 / count;
  }
  return loss;
}

// GELU and its slope. The error function within 1.5e-7, as near as these numbers are told apart
// (Abramowitz and Stegun 1964, 7.1.26).
function bend(x, y, slope) {
  for (let i = 0; i < x.length; i++) {
    const bell = Math.exp((-x[i] * x[i]) / 2);
    const t = 1 / (1 + 0.3275911 * Math.abs(x[i]) * Math.SQRT1_2);
    const tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * bell;
    const below = x[i] < 0 ? tail / 2 : 1 - tail / 2; // the normal distribution's share below x
    y[i] = x[i] * below;
    slope[i] = below + (x[i] * bell) / ROOT;
  }
}
