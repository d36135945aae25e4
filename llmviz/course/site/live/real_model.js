// A Llama in plain JavaScript: where its forward pass is another than that of model.js, as in
// llmviz/models/gpt.py. RMS norm, rotary positions, heads that share keys and values, SwiGLU and a tied
// head. Its weights stay packed (blocks.js).

import { Memory } from "./blocks.js";
import { Model } from "./model.js";

export class RealModel extends Model {
  // config, tensors and weights (bytes): of the list that llmviz/course/site/shards.py writes. Its bytes are
  // then to be put into `memory.bytes`. simd: whether blocks.wat multiplies; left out, where it can.
  constructor({ config, tensors, weights }, options) {
    super(config, null);
    this.tensors = new Map(tensors.map(([name, type, shape, offset]) => [name, { type, shape, offset }]));
    const matrices = tensors.map(([, , shape]) => shape).filter((shape) => shape.length === 2);
    this.memory = new Memory(weights, matrices, options);
  }

  row(token) {
    return this.memory.row(this.tensors.get("token_embd.weight"), token);
  }

  entry(token) {
    return this.row(token);
  }

  scores(vector) {
    return this.linear("token_embd", vector);
  }

  ended(vector) {
    return this.norm("output_norm", vector);
  }

  qkv(layer, vector, at) {
    const x = this.norm(`blk.${layer}.attn_norm`, vector);
    const [query, key, value] = ["q", "k", "v"].map((part) => this.linear(`blk.${layer}.attn_${part}`, x));
    return [this.rotated(query, at), this.rotated(key, at), value];
  }

  projected(layer, taken) {
    return this.linear(`blk.${layer}.attn_output`, taken);
  }

  // SwiGLU: the gate, times its own share of 0 to 1, says how much of each number goes on.
  mlp(layer, vector) {
    const x = this.norm(`blk.${layer}.ffn_norm`, vector);
    const gate = this.linear(`blk.${layer}.ffn_gate`, x);
    const hidden = this.linear(`blk.${layer}.ffn_up`, x);
    for (let i = 0; i < hidden.length; i++) hidden[i] *= gate[i] / (1 + Math.exp(-gate[i]));
    return this.linear(`blk.${layer}.ffn_down`, hidden);
  }

  // Rotary positions: pair i of each head turns by position · base^(-2i / D). A GGUF file has the two
  // numbers of a pair side by side.
  rotated(vector, position) {
    const { n_head, n_embd, rotary_base } = this.config;
    const size = n_embd / n_head;
    for (let i = 0; i < size; i += 2) {
      const angle = position * rotary_base ** (-i / size);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      for (let at = i; at < vector.length; at += size) {
        const [a, b] = [vector[at], vector[at + 1]];
        vector[at] = a * cos - b * sin;
        vector[at + 1] = a * sin + b * cos;
      }
    }
    return vector;
  }

  linear(name, x) {
    return this.memory.product(this.tensors.get(`${name}.weight`), x);
  }

  // RMS norm: the mean of the squares becomes 1, then each number has its scale.
  norm(name, vector) {
    const x = Float64Array.from(vector);
    const scale = this.memory.floats(this.tensors.get(`${name}.weight`));
    let squares = 0;
    for (let i = 0; i < x.length; i++) squares += x[i] * x[i];
    const root = Math.sqrt(squares / x.length + this.config.norm_epsilon);
    return x.map((number, i) => (number / root) * scale[i]);
  }
}
