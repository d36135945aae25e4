// A small GPT in plain JavaScript: the forward pass of llmviz/models/gpt.py, one token at a time.
// C width, H heads, K heads of keys and values (H of most models), D = C / H, V vocabulary; a matrix
// (out, in) lies row after row in one array.

export class Model {
  // config: n_layer, n_head, n_embd, vocab_size, context_length, norm_epsilon. weights: arrays by
  // their names in llmviz, such as "blocks.0.attn.qkv.weight".
  constructor(config, weights) {
    this.config = config;
    this.weights = weights;
  }

  // What is kept of the tokens that were read, for at most `most`: in each layer their keys and values.
  // seen[token] has its vectors before, between and after the layers. Where it is watched, also in each
  // layer query, key and value, and what attention and the feed-forward network added, and
  // weights[layer][head][token] has a number for each token up to this one.
  // off: a head that is switched off, [layer, head].
  begin({ most = this.config.context_length, watched = true, off = null } = {}) {
    const { n_layer, n_head, n_kv_head = n_head, n_embd } = this.config;
    const kept = (most * n_embd * n_kv_head) / n_head;
    return {
      most,
      watched,
      off,
      length: 0,
      layers: Array.from({ length: n_layer }, () => ({ keys: new Float32Array(kept), values: new Float32Array(kept) })),
      weights: Array.from({ length: n_layer }, () => Array.from({ length: n_head }, () => [])),
      seen: [],
    };
  }

  // Read one token, which follows those in the cache.
  read(cache, token) {
    this.through(cache, this.entry(token, cache.length));
  }

  // The logits (V) for the token after `token`.
  step(cache, token) {
    this.read(cache, token);
    return this.logits(cache.seen.at(-1).vectors.at(-1));
  }

  // Take the vector (C) of the next token through the layers, from layer `first` on: it enters that one.
  through(cache, vector, first = 0) {
    if (cache.length >= cache.most) throw new RangeError(`at most ${cache.most} tokens are read`);
    const x = Float64Array.from(vector);
    const seen = { vectors: [Float32Array.from(x)], qkv: [], attention: [], mlp: [] };
    for (let layer = first; layer < this.config.n_layer; layer++) {
      const qkv = this.qkv(layer, x, cache.length);
      const attention = this.projected(layer, this.attended(cache, layer, qkv));
      add(x, attention);
      const mlp = this.mlp(layer, x);
      add(x, mlp);
      seen.vectors.push(Float32Array.from(x));
      if (!cache.watched) continue;
      const small = (vector) => Float32Array.from(vector); // of a real model 0.25 MB a token
      seen.qkv.push(qkv.map(small));
      seen.attention.push(small(attention));
      seen.mlp.push(small(mlp));
    }
    if (!cache.watched) delete cache.seen[cache.length - 1]; // of the token before
    cache.length++;
    cache.seen.push(seen);
  }

  // What the heads take from the tokens so far (C).
  attended(cache, layer, [query, key, value]) {
    const { n_head, n_kv_head = n_head } = this.config;
    const { keys, values } = cache.layers[layer];
    const at = cache.length;
    const size = query.length / n_head;
    const width = key.length;
    keys.set(key, at * width);
    values.set(value, at * width);
    const taken = new Float64Array(query.length);
    for (let head = 0; head < n_head; head++) {
      const first = head * size;
      const its = Math.floor((head * n_kv_head) / n_head) * size; // where the key's part for this head is
      const scores = new Float64Array(at + 1);
      for (let token = 0; token <= at; token++) {
        let sum = 0;
        for (let i = 0; i < size; i++) sum += query[first + i] * keys[token * width + its + i];
        scores[token] = sum / Math.sqrt(size);
      }
      const weights = softmax(scores);
      if (cache.watched) cache.weights[layer][head].push(weights);
      if (cache.off?.[0] === layer && cache.off[1] === head) continue;
      for (let token = 0; token <= at; token++)
        for (let i = 0; i < size; i++) taken[first + i] += weights[token] * values[token * width + its + i];
    }
    return taken;
  }

  // A head's part of a token's query (0), key (1) or value (2) in a layer (D).
  partOf({ qkv }, layer, which, head) {
    const { n_head, n_kv_head = n_head, n_embd } = this.config;
    const size = n_embd / n_head;
    const at = size * (which ? Math.floor((head * n_kv_head) / n_head) : head);
    return qkv[layer][which].subarray(at, at + size);
  }

  // A row of the matrix that reads tokens (C). It also scores them (a tied head).
  row(token) {
    const { n_embd } = this.config;
    return this.weights["token.weight"].subarray(token * n_embd, (token + 1) * n_embd);
  }

  entry(token, at) {
    const { n_embd } = this.config;
    const place = this.weights["position.weight"];
    return Float64Array.from(this.row(token), (number, i) => number + place[at * n_embd + i]);
  }

  // The dot products (V) of a vector (C) with all rows of that matrix.
  scores(vector) {
    return product(this.weights["token.weight"], vector, null);
  }

  // The lengths (V) of its rows.
  lengths() {
    this.known ??= Float64Array.from({ length: this.config.vocab_size }, (_, token) => {
      let squares = 0;
      for (const number of this.row(token)) squares += number * number;
      return Math.sqrt(squares);
    });
    return this.known;
  }

  // The logits (V) that a vector (C) behind some layer would give: behind the last one they are the
  // model's own.
  logits(vector) {
    return this.scores(this.ended(vector));
  }

  // A vector as the rows of the matrix score it.
  ended(vector) {
    return this.norm("norm_final", vector);
  }

  // Query (C), key and value of a token.
  qkv(layer, x) {
    const { n_embd } = this.config;
    const all = this.linear(`blocks.${layer}.attn.qkv`, this.norm(`blocks.${layer}.norm1`, x));
    return [0, 1, 2].map((which) => all.subarray(which * n_embd, (which + 1) * n_embd));
  }

  projected(layer, taken) {
    return this.linear(`blocks.${layer}.attn.projection`, taken);
  }

  mlp(layer, x) {
    const hidden = this.linear(`blocks.${layer}.mlp.hidden`, this.norm(`blocks.${layer}.norm2`, x));
    return this.linear(`blocks.${layer}.mlp.output`, hidden.map(gelu));
  }

  linear(name, x) {
    return product(this.weights[`${name}.weight`], x, this.weights[`${name}.bias`]);
  }

  // Layer norm: mean 0 and variance 1, then a scale and a shift for each number.
  norm(name, vector) {
    const x = Float64Array.from(vector);
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
function gelu(x) {
  return 0.5 * x * (1 + erf(x * Math.SQRT1_2));
}

// The error function, by its series with positive terms (Abramowitz and Stegun 1964, 7.1.6):
// 2/√π · exp(-x²) · Σ 2ⁿ x²ⁿ⁺¹ / (1·3·…·(2n+1)).
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}
