// Attention on a visitor's own text: one word of it asks, and each step to its weights is a column.

import { fixed, whole } from "../../components/_shared/numbers.js";
import { idsOf, serving } from "./engine.js";
import { ownText } from "./own_text.js";
import { el, inPercent } from "./page_parts.js";
import { matricesOf, showing } from "./pictures.js";
import { packed } from "./reading.js";
import { say } from "./said.js";

const READ = 24; // tokens, the last ones: a longer list is hard to read
const KEY = "steps.own"; // of the picture

// What token `row` asks in a head: its scores with each token up to it, divided by √D, and the weights.
export function asked({ model, cache }, layer, head, row) {
  const query = model.partOf(cache.seen[row], layer, 0, head);
  return Array.from(cache.weights[layer][head][row], (weight, token) => {
    const key = model.partOf(cache.seen[token], layer, 1, head);
    const score = query.reduce((sum, number, i) => sum + number * key[i], 0);
    return { score, scaled: score / Math.sqrt(query.length), weight };
  });
}

// The same as linked matrices, from the query and the keys to the weights: each cell opens.
function rowOf(query, keys, steps, names) {
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

const questions = {
  async read(model, { text }, { paced }) {
    const all = idsOf(model, text);
    const ids = all.slice(-READ);
    await paced(ids);
    const { n_layer, n_head } = model.model.config;
    const { layer, heads } = model.machine.view; // those of the picture of the whole machine
    const names = ids.map((id) => (model.start.includes(id) ? say("(start)") : model.nameOf(id)));
    return { names, count: 1 + model.tokenizer.encode(text).length, layers: n_layer, heads: n_head, begins: [layer, heads[layer]] };
  },
  head({ reader }, { layer, head, row, names }) {
    const steps = asked(reader, layer, head, row);
    const part = (token, which) => [...reader.model.partOf(reader.cache.seen[token], layer, which, head)];
    const keys = steps.map((_, token) => part(token, 1));
    return { steps, picture: packed(rowOf(part(row, 0), keys, steps, names.slice(0, row + 1)), KEY) };
  },
};
export function serve(scope) {
  serving(questions, scope);
}

export function start(told, views) {
  const draw = showing(views);
  const at = (name) => document.getElementById(`steps-${name}`);
  let now = null; // what was read, and what answers of it

  async function show() {
    if (!now) return;
    const { ask, names } = now;
    const [layer, head, row] = ["layer", "head", "asks"].map((name) => Number(at(name).value));
    at("layer-now").textContent = layer;
    at("head-now").textContent = head;
    at("asks-now").textContent = names[row];
    const { steps, picture } = await ask("head", { layer, head, row, names });
    const first = steps.reduce((best, step, token) => (step.weight > steps[best].weight ? token : best), 0);
    const most = { head, layer, token: names[row], first: names[first], share: inPercent(steps[first].weight) };
    at("said").textContent = say("In head {head} of layer {layer} of the trained model, {token} takes most from {first}: {share}.", most);
    draw("matrix_view", at("picture"), KEY, picture);
    at("rows").replaceChildren(
      ...steps.map(({ score, scaled, weight }, token) => {
        const line = el("tr", token === row ? "drawn" : "");
        const cell = el("td", "bar");
        const bar = el("span", "length");
        bar.style.width = `calc(var(--bar) * ${weight.toFixed(4)})`;
        cell.append(bar, el("span", "", inPercent(weight)));
        const numbers = [score, scaled].map((number) => el("td", "number", fixed(number, 2)));
        line.append(el("th", "", names[token]), ...numbers, cell);
        return line;
      }),
    );
  }

  async function read(ask, text) {
    const begun = now === null;
    now = { ask, ...(await ask("read", { text })) };
    if (begun) {
      for (const [i, name] of ["layer", "head"].entries()) {
        at(name).max = now[`${name}s`] - 1;
        at(name).value = now.begins[i];
      }
    }
    [at("asks").max, at("asks").value] = [now.names.length - 1, now.names.length - 1];
    await show();
    const given = { reads: READ, count: whole(now.count) };
    return now.count > READ ? say("The model reads the last {reads} of your {count} tokens.", given) : "";
  }

  for (const name of ["layer", "head", "asks"]) at(name).addEventListener("input", show);
  ownText("steps", told, { small: told.model, questions, read });
}
