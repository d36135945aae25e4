// Where the heads of a model look on a visitor's own text, and what it says without one of them.

import { percent, whole } from "../../components/_shared/numbers.js";
import { carry, linked } from "./carried.js";
import { engine, idsOf, serving } from "./engine.js";
import { gridOf, hardest, logitsWithout, lookOf } from "./heads.js";
import { softmax } from "./model.js";
import { ownText } from "./own_text.js";
import { el, inPercent, unbroken } from "./page_parts.js";
import { showing } from "./pictures.js";
import { packed } from "./reading.js";
import { say } from "./said.js";
import { highest } from "./sampling.js";

const READ = 40; // tokens, of a small model the last ones: the maps of more are hard to read
const BARS = 5; // next tokens
const MATTERS = 0.1; // of a chance: a change by less says that nothing depends on the head

// How the likeliest next token fares without a head, as `caption` of
// llmviz/course/lessons/attention/trained/chapter.py. before, after: the chances (V).
export function change(before, after) {
  const [[best], [now]] = [before, after].map((chances) => highest(chances, 1));
  const kept = after[best] / before[best];
  const stays = kept < 1 - MATTERS ? "weaker" : kept > 1 + MATTERS ? "surer" : "stays";
  const same = stays === "stays" && rounded(after[best]) === rounded(before[best]);
  return { now, how: now !== best ? "flips" : same ? "same" : stays };
}
const rounded = (part) => unbroken(percent(part, 0));

const questions = {
  // wanted: a layer and a head. Where the model has none such, those that look hardest at one word are switched
  // off in turn, and the one without which the likeliest token keeps least is told of.
  async heads(model, { text, wanted, words, headName, keys }, { paced, pause }) {
    const all = idsOf(model, text);
    const ids = all.slice(-READ);
    const before = softmax(await paced(ids));
    const { reader, nameOf } = model;
    const { n_layer, n_head } = reader.model.config;
    const there = wanted[0] < n_layer && wanted[1] < n_head && wanted.every((one) => one >= 0);
    const [best] = highest(before, 1);
    let [place, after] = [null, null];
    for (const one of there ? [wanted] : hardest(reader)) {
      const less = softmax(await logitsWithout(reader, one, pause));
      if (!after || less[best] < after[best]) [place, after] = [one, less];
    }
    const name = headName.replace("{layer}", place[0]).replace("{head}", place[1]);
    const tokens = ids.map((id) => (model.start.includes(id) ? say("(start)") : nameOf(id)));
    const { now, how } = change(before, after);
    const weights = reader.cache.weights[place[0]][place[1]].at(-1);
    const [most] = highest(weights, 1);
    const rows = highest(
      before.map((chance, id) => Math.max(chance, after[id])),
      BARS,
    ).map((id) => [nameOf(id), before[id], after[id]]);
    const capital = name[0].toUpperCase() + name.slice(1);
    const places = {
      ...{ head: name, Head: capital, word: tokens[most], best: nameOf(best), now: nameOf(now) },
      ...{ share: rounded(weights[most]), before: rounded(before[best]), after: rounded(after[now]) },
    };
    return {
      ...{ place, name, how, places, rows, count: model.start.length + model.tokenizer.encode(text).length, reads: ids.length },
      look: packed(lookOf(reader, place, tokens, { name: capital, words }), keys[0]),
      grid: packed(gridOf(reader, tokens, { chosen: place }), keys[1]),
    };
  },
};
export function serve(scope) {
  serving(questions, scope);
}

export { engine, questions };

export function start(told, views) {
  const at = (name) => document.getElementById(`trained-${name}`);
  let chosen = ["layer", "head"].map((name) => Number(linked(name) ?? -1));
  let shown = null; // the head that is told of: the grid reports it, too, when it is given another
  const report = (name, value) => {
    if (name !== "chosen" || !value || String(value) === String(shown)) return;
    chosen = value;
    for (const [i, part] of ["layer", "head"].entries()) carry(part, String(chosen[i]));
    again();
  };
  const show = showing(views, { ask: globalThis.llmvizSite.asks, report });
  // A token in a sentence: without the sign of the space that begins it.
  const tokens = ["word", "best", "now"];
  const spoken = (text, place) => (tokens.includes(place) ? say("“{token}”", { token: text.replace(/^·(?=.)/, "") }) : text);

  async function read(ask, text) {
    const keys = ["look", "grid"].map((part) => `trained.${part}.${ask.on}`);
    const given = { text, wanted: chosen, words: told.look, headName: told.headName, keys };
    const { place, name, how, places, rows, count, reads, look, grid } = await ask("heads", given);
    shown = place;
    show("look_back", at("look"), keys[0], look);
    show("heads_grid", at("grid"), keys[1], grid);
    at("off").textContent = say("without {head}", { head: name });
    at("said").textContent = told.captions[how].replace(/\{(\w+)\}/g, (_, place) => spoken(places[place], place));
    at("rows").replaceChildren(
      ...rows.map(([token, ...shares]) => {
        const line = el("tr");
        line.append(
          el("th", "", token),
          ...shares.map((share) => {
            const cell = el("td", "bar");
            const bar = el("span", "length");
            bar.style.width = `calc(var(--bar) * ${share.toFixed(4)})`;
            cell.append(bar, el("span", "", inPercent(share)));
            return cell;
          }),
        );
        return line;
      }),
    );
    return count > reads ? say("The model reads the last {reads} of your {count} tokens.", { reads, count: whole(count) }) : "";
  }

  const again = ownText("trained", told, { small: told.model, questions, read, most: READ, watched: true });
}
