// Temperature on a visitor's own text: the stage's picture of softmax, and what is written at its T.

import { opened, Reader } from "./loaded.js";
import { softmax } from "./model.js";
import { ownText } from "./own_text.js";
import { el } from "./page_parts.js";
import { showing } from "./pictures.js";
import { draw, ranked, withTemperature } from "./sampling.js";

export { opened };

const SHOWN = 12; // tokens
const TEXTS = 3;
const LENGTH = 12; // tokens of each
const COLUMNS = ["scaled", "shifted", "exp", "probability"];

// The numbers of softmax at a temperature for some tokens, and the entropy of all, as `row_at` of
// llmviz/course/lessons/sampling/temperature. stop: the temperature; null is infinity.
export function rowAt(logits, ids, stop) {
  const most = logits.reduce((a, b) => Math.max(a, b));
  if (stop === 0) {
    const ties = logits.reduce((count, logit) => count + (logit === most), 0);
    const none = ids.map(() => NaN);
    const probability = ids.map((id) => (logits[id] === most ? 1 / ties : 0));
    return { scaled: none, shifted: none, exp: none, probability, entropy: Math.log(ties) };
  }
  const warm = stop ?? Infinity;
  const [scaled, shifted] = [logits.map((logit) => logit / warm), logits.map((logit) => (logit - most) / warm)];
  const exps = shifted.map(Math.exp);
  const total = exps.reduce((a, b) => a + b);
  const entropy = Math.log(total) - exps.reduce((sum, exp, id) => sum + exp * shifted[id], 0) / total;
  const of = (values) => ids.map((id) => values[id]);
  return { scaled: of(scaled), shifted: of(shifted), exp: of(exps), probability: of(exps).map((exp) => exp / total), entropy };
}

const share = (p) => {
  const size = 100 * p;
  if (size > 0 && size < 0.005) return "less than 0.01\u00a0%";
  return `${size.toFixed(size >= 10 || size === 0 ? 1 : 2)}\u00a0%`;
};

// What the picture says at a temperature. captions: its sentences, with the places of its numbers.
export function captionOf(captions, token, size, stop, { entropy, probability }) {
  const among = Math.exp(entropy);
  const named = stop === null ? "infinite" : stop === 0 ? "zero" : among >= 1.05 ? "between" : "sure";
  const about = among >= 10 ? Math.round(among).toLocaleString("en") : String(Number(among.toPrecision(2)));
  const places = { token, n: size.toLocaleString("en"), t: String(stop), among: about, p: share(probability[0]) };
  return captions[named].replace(/\{(\w+)\}/g, (_, place) => places[place]);
}

// What the picture is told: see llmviz/course/components/softmax_view/view.py.
export function softmaxOf({ logits, names, at, words, captions, stops }) {
  const ids = ranked(logits).slice(0, SHOWN);
  const rows = stops.map((stop) => rowAt(logits, ids, stop));
  const floats = (values, shape) => Object.assign(Float32Array.from(values), { shape });
  const column = (name) =>
    floats(
      rows.flatMap((row) => row[name]),
      [rows.length, ids.length],
    );
  return {
    names: ids.map((id) => names[id]),
    logits: floats(
      ids.map((id) => logits[id]),
      [ids.length],
    ),
    stops,
    ...Object.fromEntries(COLUMNS.map((name) => [name, column(name)])),
    entropy: floats(
      rows.map((row) => row.entropy),
      [rows.length],
    ),
    words,
    lines: rows.map((row, i) => captionOf(captions, names[ids[0]], logits.length, stops[i], row)),
    at,
    vocab: logits.length,
  };
}

export function start({ model: data, words, captions, stops }, views) {
  const place = (name) => document.getElementById(`temperature-${name}`);
  let at = stops.indexOf(1); // where the slider stands
  let now = null;
  let ids = [];
  let turn = 0; // a text that was changed ends what is being written
  const report = (_, act) => (at = act.at ?? at);
  const show = showing(views, { ask: globalThis.llmvizSite.asks, report });

  function read(loaded, text) {
    now = loaded;
    turn++;
    const most = now.model.config.context_length;
    const all = [now.tokenizer.end, ...now.tokenizer.encode(text)];
    ids = all.slice(-most + LENGTH);
    const logits = now.reader.read(ids);
    show("softmax_view", place("picture"), "temperature.own", softmaxOf({ logits, names: now.names, at, words, captions, stops }));
    place("written").replaceChildren();
    return all.length > ids.length ? `The model reads the last ${ids.length} of your ${all.length.toLocaleString("en")} tokens.` : "";
  }

  place("write").addEventListener("click", async () => {
    const mine = ++turn;
    const temperature = stops[at] ?? Infinity;
    const lines = Array.from({ length: TEXTS }, () => el("li"));
    place("written").replaceChildren(...lines);
    for (const line of lines) {
      const more = [];
      while (more.length < LENGTH && more.at(-1) !== now.tokenizer.end) {
        const scores = withTemperature(now.reader.read([...ids, ...more]), temperature);
        more.push(draw(softmax(scores), Math.random()));
        const bytes = more.filter((id) => id !== now.tokenizer.end).flatMap((id) => [...now.tokenizer.bytes(id)]);
        line.textContent = `…${new TextDecoder().decode(Uint8Array.from(bytes))}`;
        await new Promise(requestAnimationFrame);
        if (mine !== turn) return;
      }
    }
  });
  const load = async () => {
    const loaded = opened(await globalThis.llmvizSite.data(data));
    const names = Object.assign([...loaded.names], { [loaded.tokenizer.end]: loaded.machine.end });
    return { ...loaded, names, reader: new Reader(loaded.model) };
  };
  ownText("temperature", load, read);
}
