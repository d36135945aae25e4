// Temperature on a visitor's own text: the stage's picture of softmax, and what is written at its T.

import { fixed, local, percent, whole } from "../../components/_shared/numbers.js";
import { idsOf, serving } from "./engine.js";
import { softmax } from "./model.js";
import { ownText } from "./own_text.js";
import { el, unbroken } from "./page_parts.js";
import { showing } from "./pictures.js";
import { packed } from "./reading.js";
import { say } from "./said.js";
import { draw, highest, withTemperature } from "./sampling.js";

const SHOWN = 12; // tokens
const TEXTS = 3;
const LENGTH = 12; // tokens of each
const MOST = 400; // tokens of a real model
const COLUMNS = ["scaled", "shifted", "exp", "probability"];

// The numbers of softmax at a temperature for some tokens, and the entropy of all, as `row_at` of
// llmviz/course/lessons/sampling/temperature. stop: the temperature; null is infinity.
function rowAt(logits, ids, stop) {
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
  if (p > 0 && p < 0.00005) return say("less than {share}", { share: unbroken(percent(0.0001, 2)) });
  return unbroken(percent(p, p >= 0.1 || p === 0 ? 1 : 2));
};

const filled = (text, places) => text.replace(/\{(\w+)\}/g, (_, place) => places[place]);

// What the picture says at a temperature. captions: its sentences, with the places of its numbers.
function captionOf(captions, token, size, stop, { entropy, probability }) {
  const among = Math.exp(entropy);
  const named = stop === null ? "infinite" : stop === 0 ? "zero" : among >= 1.05 ? "between" : "sure";
  const about = among >= 10 ? whole(Math.round(among)) : local(String(Number(among.toPrecision(2))));
  return filled(captions[named], { token, n: whole(size), t: local(String(stop)), among: about, p: share(probability[0]) });
}

// What the picture is told: see llmviz/course/components/softmax_view/view.py.
export function softmaxOf({ logits, nameOf, at, words, captions, stops }) {
  const ids = highest(logits, SHOWN);
  const rows = stops.map((stop) => rowAt(logits, ids, stop));
  const floats = (values, shape) => Object.assign(Float32Array.from(values), { shape });
  const column = (name) =>
    floats(
      rows.flatMap((row) => row[name]),
      [rows.length, ids.length],
    );
  return {
    names: ids.map(nameOf),
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
    words: { ...words, all: filled(words.all, { n: whole(logits.length), entropy: fixed(Math.log(logits.length), 2) }) },
    lines: rows.map((row, i) => captionOf(captions, nameOf(ids[0]), logits.length, stops[i], row)),
    at,
    vocab: logits.length,
  };
}

const questions = {
  async softmax(model, { text, key, ...said }, { paced }) {
    const ids = idsOf(model, text, LENGTH);
    const logits = await paced(ids);
    const nameOf = (id) => (model.start.includes(id) ? model.machine.end : model.nameOf(id));
    const count = model.start.length + model.tokenizer.encode(text).length;
    return { picture: packed(softmaxOf({ logits, nameOf, ...said }), key), reads: ids.length, count };
  },
  // So many texts behind one, at a temperature; each is told as it grows.
  async write(model, { text, temperature }, { paced, pause, tell }) {
    const ids = idsOf(model, text, LENGTH);
    for (let number = 0; number < TEXTS; number++) {
      const more = [];
      while (more.length < LENGTH) {
        const scores = withTemperature(await paced([...ids, ...more]), temperature);
        const id = draw(softmax(scores), Math.random());
        if (model.ends.includes(id)) break;
        more.push(id);
        tell({ number, text: model.tokenizer.decode(more) });
        await pause();
      }
    }
  },
};
export function serve(scope) {
  serving(questions, scope);
}

export function start(told, views) {
  const { words, captions, stops } = told;
  const place = (name) => document.getElementById(`temperature-${name}`);
  let at = stops.indexOf(1); // where the slider stands
  let now = null;
  const report = (_, act) => (at = act.at ?? at);
  const show = showing(views, { ask: globalThis.llmvizSite.asks, report });

  async function read(ask, text) {
    now = { ask, text };
    place("written").replaceChildren();
    const key = `temperature.${ask.on}`;
    const { picture, reads, count } = await ask("softmax", { text, key, at, words, captions, stops });
    show("softmax_view", place("picture"), key, picture);
    return count > reads ? say("The model reads the last {reads} of your {count} tokens.", { reads, count: whole(count) }) : "";
  }

  place("write").addEventListener("click", () => {
    const lines = Array.from({ length: TEXTS }, () => el("li"));
    place("written").replaceChildren(...lines);
    const temperature = stops[at] ?? Infinity;
    now.ask("write", { text: now.text, temperature }, ({ number, text }) => {
      if (text !== undefined) lines[number].textContent = `…${text}`;
    });
  });
  ownText("temperature", told, { small: told.model, questions, read, most: MOST, watched: false });
}
