// A small GPT in plain JavaScript: the forward pass of llmviz/models/gpt.py, one token at a time.
// C width, H heads, D = C / H, V vocabulary; a matrix (out, in) lies row after row in one array.

export class Model {
  // config: n_layer, n_head, n_embd, vocab_size, context_length, norm_epsilon. weights: arrays by
  // their names in llmviz, such as "blocks.0.attn.qkv.weight".
  constructor(config, weights) {
    this.config = config;
    this.weights = weights;
  }

  // What is kept of the tokens that were read: in each layer their keys and values, and the weights
  // that each head gave: weights[layer][head][token] has a number for each token up to this one.
  // seen[token] has what pictures draw of it: its vectors before, between and after the layers, in
  // each layer query, key and value, and what attention and the feed-forward network added; its logits.
  begin() {
    const { n_layer, n_head, n_embd, context_length } = this.config;
    return {
      length: 0,
      layers: Array.from({ length: n_layer }, () => ({
        keys: new Float64Array(context_length * n_embd),
        values: new Float64Array(context_length * n_embd),
      })),
      weights: Array.from({ length: n_layer }, () => Array.from({ length: n_head }, () => [])),
      seen: [],
    };
  }

  // The logits (V) for the token after `token`, which follows those in `cache`.
  step(cache, token) {
    const { n_layer, n_embd, context_length } = this.config;
    if (cache.length >= context_length) throw new RangeError(`the model reads ${context_length} tokens`);
    const at = cache.length;
    const x = new Float64Array(n_embd);
    const row = this.weights["token.weight"];
    const place = this.weights["position.weight"];
    for (let i = 0; i < n_embd; i++) x[i] = row[token * n_embd + i] + place[at * n_embd + i];
    const seen = { vectors: [x.slice()], qkv: [], attention: [], mlp: [], logits: null };
    for (let layer = 0; layer < n_layer; layer++) {
      const name = `blocks.${layer}`;
      const qkv = this.linear(`${name}.attn.qkv`, this.norm(`${name}.norm1`, x));
      const attention = this.linear(`${name}.attn.projection`, this.attend(cache, layer, qkv));
      add(x, attention);
      const hidden = this.linear(`${name}.mlp.hidden`, this.norm(`${name}.norm2`, x));
      const mlp = this.linear(`${name}.mlp.output`, hidden.map(gelu));
      add(x, mlp);
      seen.vectors.push(x.slice());
      for (const [kept, vector] of [
        [seen.qkv, qkv],
        [seen.attention, attention],
        [seen.mlp, mlp],
      ])
        kept.push(vector);
    }
    cache.length = at + 1;
    // The matrix that reads tokens also scores them (a tied head).
    seen.logits = product(row, this.norm("norm_final", x), null);
    cache.seen.push(seen);
    return seen.logits;
  }

  // What the heads take from the tokens so far (C); qkv holds query, key and value (3C).
  attend(cache, layer, qkv) {
    const { n_head, n_embd } = this.config;
    const { keys, values } = cache.layers[layer];
    const at = cache.length;
    const size = n_embd / n_head;
    keys.set(qkv.subarray(n_embd, 2 * n_embd), at * n_embd);
    values.set(qkv.subarray(2 * n_embd), at * n_embd);
    const taken = new Float64Array(n_embd);
    for (let head = 0; head < n_head; head++) {
      const first = head * size;
      const scores = new Float64Array(at + 1);
      for (let token = 0; token <= at; token++) {
        let sum = 0;
        for (let i = 0; i < size; i++) sum += qkv[first + i] * keys[token * n_embd + first + i];
        scores[token] = sum / Math.sqrt(size);
      }
      const weights = softmax(scores);
      for (let token = 0; token <= at; token++)
        for (let i = 0; i < size; i++) taken[first + i] += weights[token] * values[token * n_embd + first + i];
      cache.weights[layer][head].push(weights);
    }
    return taken;
  }

  linear(name, x) {
    return product(this.weights[`${name}.weight`], x, this.weights[`${name}.bias`]);
  }

  // Layer norm: mean 0 and variance 1, then a scale and a shift for each number.
  norm(name, x) {
    const scale = this.weights[`${name}.weight`];
    const shift = this.weights[`${name}.bias`];
    const mean = x.reduce((sum, one) => sum + one, 0) / x.length;
    const variance = x.reduce((sum, one) => sum + (one - mean) ** 2, 0) / x.length;
    const root = Math.sqrt(variance + this.config.norm_epsilon);
    return x.map((one, i) => ((one - mean) / root) * scale[i] + shift[i]);
  }
}

// W·x + b. Four sums at once, which the processor adds side by side.
function product(weight, x, bias) {
  const width = x.length;
  const result = new Float64Array(weight.length / width);
  for (let row = 0, at = 0; row < result.length; row++) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let i = 0;
    for (; i + 3 < width; i += 4, at += 4) {
      a += weight[at] * x[i];
      b += weight[at + 1] * x[i + 1];
      c += weight[at + 2] * x[i + 2];
      d += weight[at + 3] * x[i + 3];
    }
    for (; i < width; i++, at++) a += weight[at] * x[i];
    result[row] = a + b + c + d + (bias ? bias[row] : 0);
  }
  return result;
}

export function add(x, change) {
  for (let i = 0; i < x.length; i++) x[i] += change[i];
}

// Probabilities of scores; one of -Infinity has none. With the largest taken off no power overflows.
export function softmax(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = Float64Array.from(scores, (score) => Math.exp(score - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((one) => one / sum);
}

// x times the share of a standard normal distribution below x.
export function gelu(x) {
  return 0.5 * x * (1 + erf(x * Math.SQRT1_2));
}

// The error function, by its series with positive terms (Abramowitz and Stegun 1964, 7.1.6):
// 2/√π · exp(-x²) · Σ 2ⁿ x²ⁿ⁺¹ / (1·3·…·(2n+1)).
export function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}
