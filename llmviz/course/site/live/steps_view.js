// Attention on a visitor's own text: one word of it asks, and each step to its weights is a column.

import { opened, Reader } from "./loaded.js";
import { ownText } from "./own_text.js";
import { el, percent } from "./page_parts.js";
import { matricesOf, showing } from "./pictures.js";

const READ = 24; // tokens, the last ones: a longer list is hard to read

// What token `row` asks in a head: its scores with each token up to it, divided by √D, and the weights.
export function asked({ model, cache }, layer, head, row) {
  const { n_embd, n_head } = model.config;
  const size = n_embd / n_head;
  const query = cache.seen[row].qkv[layer].subarray(head * size, (head + 1) * size);
  return Array.from(cache.weights[layer][head][row], (weight, token) => {
    const from = n_embd + head * size;
    const key = cache.seen[token].qkv[layer].subarray(from, from + size);
    const score = query.reduce((sum, number, i) => sum + number * key[i], 0);
    return { score, scaled: score / Math.sqrt(size), weight };
  });
}

// The same as linked matrices, from the query and the keys to the weights: each cell opens.
export function rowOf(query, keys, steps, names) {
  const by = 1 / Math.sqrt(query.length);
  const row = (name, of, op, role) => ({ name, rows: [steps.map((step) => step[of])], colLabels: names, op, role });
  const matrices = [
    { name: "query", rows: [query], role: "query" },
    { name: "keys", rows: keys, rowLabels: names, role: "key" },
    row("scores", "score", { kind: "matmul", of: ["query", "keys"], transpose_b: true }),
    row("scaled", "scaled", { kind: "scaled", of: ["scores"], by, text: `÷ √${query.length}` }),
    row("weights", "weight", { kind: "softmax_rows", of: ["scaled"] }, "weights"),
  ];
  return matricesOf(matrices, [["query"], ["scores"], ["scaled"], ["weights"]], { stacked: true, narrow: READ });
}

export { opened, Reader };

export function start({ model: data }, views) {
  const draw = showing(views);
  const at = (name) => document.getElementById(`steps-${name}`);
  let now = null;
  let names = [];

  function show() {
    if (!now) return;
    const [chosen, which, row] = ["layer", "head", "asks"].map((name) => Number(at(name).value));
    at("layer-now").textContent = chosen;
    at("head-now").textContent = which;
    at("asks-now").textContent = names[row];
    const steps = asked(now.reader, chosen, which, row);
    const first = steps.reduce((best, step, token) => (step.weight > steps[best].weight ? token : best), 0);
    at("said").textContent =
      `In head ${which} of layer ${chosen} of the trained model, ${names[row]} takes most from ${names[first]}: ${percent(steps[first].weight)}.`;
    const { n_embd, n_head } = now.model.config;
    const size = n_embd / n_head;
    const part = (token, from) => [...now.reader.cache.seen[token].qkv[chosen].subarray(from + which * size, from + (which + 1) * size)];
    const keys = steps.map((_, token) => part(token, n_embd));
    draw("matrix_view", at("picture"), "steps.own", rowOf(part(row, 0), keys, steps, names.slice(0, row + 1)));
    at("rows").replaceChildren(
      ...steps.map(({ score, scaled, weight }, token) => {
        const line = el("tr", token === row ? "drawn" : "");
        const cell = el("td", "bar");
        const bar = el("span", "length");
        bar.style.width = `calc(var(--bar) * ${weight.toFixed(4)})`;
        cell.append(bar, el("span", "", percent(weight)));
        const numbers = [score, scaled].map((number) => el("td", "number", number.toFixed(2).replace("-", "−")));
        line.append(el("th", "", names[token]), ...numbers, cell);
        return line;
      }),
    );
  }

  function read(loaded, text) {
    now = loaded;
    const all = [now.tokenizer.end, ...now.tokenizer.encode(text)];
    const ids = all.slice(-READ);
    now.reader.read(ids);
    names = ids.map((id) => (id === now.tokenizer.end ? "(start)" : now.names[id]));
    [at("asks").max, at("asks").value] = [ids.length - 1, ids.length - 1];
    show();
    return all.length > READ
      ? `These are the last ${READ} of ${all.length.toLocaleString("en")} tokens, and the model reads these alone.`
      : "";
  }

  for (const name of ["layer", "head", "asks"]) at(name).addEventListener("input", show);
  const load = async () => {
    const loaded = opened(await globalThis.llmvizSite.data(data));
    const { n_layer, n_head } = loaded.model.config;
    [at("layer").max, at("head").max] = [n_layer - 1, n_head - 1];
    const { layer, heads } = loaded.machine.view; // those of the picture of the whole machine
    [at("layer").value, at("head").value] = [layer, heads[layer]];
    return { ...loaded, reader: new Reader(loaded.model) };
  };
  ownText("steps", load, read);
}
