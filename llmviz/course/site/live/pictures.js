// Pictures of the course on what a visitor types: drawn once, then changed; each is one of the app's.

import { machineValues, packed } from "./reading.js";
import { say } from "./said.js";
import { isWhole } from "./tokens.js";

// views: the pictures that were loaded, by their names. told: `ask` hears what a picture asks for, and
// `report` what was done on it. Returns what draws one, of what it is told or of a message that is packed
// already; another key, as of another model, is another.
export function showing(views, told = { ask: globalThis.llmvizSite.asks }) {
  const shown = {};
  globalThis.llmvizSite.onTheme(() => {
    for (const { mounted } of Object.values(shown)) mounted.draw();
  });
  return (name, place, key, payload) => {
    const message = ArrayBuffer.isView(payload) ? payload : packed(payload, key);
    const before = shown[place.id];
    if (before?.key === key) return before.mounted.update(message);
    before?.mounted.end();
    const given = { name: `llmviz_${name}`, key, css: views[name].style, message };
    shown[place.id] = { key, mounted: globalThis.llmvizMount(place, given, views[name].view, told) };
  };
}

// What linked matrices are told, whose cells open: see llmviz/course/components/matrix_view/view.py.
// Each has a name, rows of numbers, labels of both axes, a role and the operation that it came from.
export function matricesOf(matrices, layout, { stacked = false, narrow = 0 } = {}) {
  const described = ({ name, rows, rowLabels = [], colLabels = [], role = "neutral", op = null, limit = null }) => {
    const values = Object.assign(Float32Array.from(rows.flatMap((row) => [...row])), { shape: [rows.length, rows[0].length] });
    const most = values.reduce((high, value) => Math.max(high, Math.abs(value)), 0);
    const signed = role !== "weights" || values.some((value) => value < 0);
    const plain = { formula: "", rowAxis: "", colAxis: "", digits: 4, rowSums: null, notes: [], hidden: [], windows: ["", ""] };
    const look = { label: say(name), role, scale: signed ? "diverging" : "sequential", limit: limit ?? (most || 1) };
    return { name, values, rowLabels, colLabels, op, ...look, ...plain };
  };
  const start = { steps: [], windows: {}, step: 0, pinned: null, window: [] };
  return { matrices: matrices.map(described), layout, numbers: "auto", stacked, narrow, ...start };
}

// What the picture of the whole machine is told of ids that were read. machine: what it says of the model.
export function machineOf({ model, reader, tokenizer, nameOf, start, ends, machine }, ids) {
  const textOf = (id) => (start.includes(id) ? machine.end : nameOf(id));
  const values = machineValues(reader, textOf);
  const count = values.rest.length;
  const first = ids.length - count;
  const rows = ids.slice(first).map((id, row) => ({
    text: textOf(id),
    id,
    position: first + row,
    whole: isWhole(tokenizer.bytes(id)),
    special: start.includes(id),
  }));
  const last = (count - 1) * values.top_ids.shape[1]; // where the list of the last row begins
  const best = values.top_ids[last];
  const kind = ends.includes(best) ? "end" : tokenizer.special?.has(best) ? "mark" : "text";
  const text = textOf(best);
  return {
    rows,
    vocab: model.config.vocab_size,
    words: kind === "mark" ? { ...machine.words.mark, end: text } : machine.words[kind],
    links: machine.links,
    next: { text, id: best, probability: values.top_probabilities[last], rank: 1, ends: kind !== "text", drawn: false },
    writing: null,
    view: { ...machine.view, row: -1, step: -1 },
    values,
    coming: false,
  };
}
