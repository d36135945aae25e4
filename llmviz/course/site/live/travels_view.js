// Where an answer is while a model reads on: each vector of a visitor's own sentence is exchanged for another
// sentence's, one at a time, and a cell says which answer is then ahead.

import { carry, linked } from "./carried.js";
import { engine, idsOf, Refused, serving } from "./engine.js";
import { shareWith } from "./exchange.js";
import { softmax } from "./model.js";
import { ownText } from "./own_text.js";
import { el, inPercent } from "./page_parts.js";
import { say } from "./said.js";
import { highest } from "./sampling.js";

const READ = 24; // tokens: each is a column, which a real model fills in up to a second

const questions = {
  // Each column is told when it is there, that of the last token first.
  async travels(model, { text, other }, { paced, pause, tell }) {
    const { reader, nameOf } = model;
    const [own, theirs] = [text, other].map((one) => idsOf(model, one).slice(-READ));
    const answer = async (ids) => {
      const chances = softmax(await paced(ids));
      const [id] = highest(chances, 1);
      return { id, name: nameOf(id), share: chances[id] };
    };
    const second = await answer(theirs);
    const lent = reader.cache.seen.map(({ vectors }) => vectors);
    const first = await answer(own);
    const answers = [first.id, second.id];
    if (own.join() === theirs.join()) throw new Refused(say("Both sentences are the same. Change one of them."));
    if (first.id === second.id)
      throw new Refused(
        say("The model goes on with “{answer}” behind both sentences, so nothing can move. Change one of them.", {
          answer: bare(first.name),
        }),
      );
    const count = Math.min(own.length, theirs.length); // places that both have, from the end
    const named = (id) => (model.start.includes(id) ? say("(start)") : nameOf(id));
    const [mine, its] = [own, theirs].map((ids) => ids.slice(-count).map(named));
    const layers = model.model.config.n_layer;
    tell({ first, second, layers, places: mine.map((name, i) => (name === its[i] ? name : `${name} / ${its[i]}`)) });
    for (let place = count - 1; place >= 0; place--) {
      const [at, from] = [own, theirs].map((ids) => ids.length - count + place);
      const shares = [];
      for (let layer = 0; layer <= layers; layer++) {
        shares.push(shareWith(reader, at, layer, lent[from], answers));
        await pause();
      }
      tell({ place, shares });
    }
  },
};
const bare = (name) => name.replace(/^·(?=.)/, "");

export function serve(scope) {
  serving(questions, scope);
}

export { engine, questions };

export function start(told) {
  const at = (name) => document.getElementById(`travels-${name}`);
  const other = at("other");
  other.value = linked("other") ?? other.value;
  let cells = []; // cells[layer][place]
  let answers = [];

  function begin({ first, second, layers, places }) {
    answers = [first, second];
    const given = {
      own: bare(first.name),
      own_share: inPercent(first.share),
      other: bare(second.name),
      other_share: inPercent(second.share),
    };
    const said = [
      "Left alone, the model finishes your sentence with “{own}” ({own_share}), and the other one with “{other}” ({other_share}).",
      "A number says how many percent of both “{other}” gets once that one vector is exchanged.",
    ];
    at("said").textContent = said.map((text) => say(text, given)).join(" ");
    const head = el("tr");
    head.append(el("th", "", say("before layer")), ...places.map((place) => el("th", "number", place)));
    cells = Array.from({ length: layers + 1 }, () => places.map(() => el("td", "number", "…")));
    const rows = cells.map((line, layer) => {
      const row = el("tr");
      row.append(el("th", "", layer === layers ? say("the end") : layer), ...line);
      return row;
    });
    at("map").replaceChildren(head, ...rows);
  }

  function fill({ place, shares }) {
    for (const [layer, share] of shares.entries()) {
      const cell = cells[layer][place];
      cell.textContent = (100 * share).toFixed(0);
      cell.title = say("Of the two answers, “{answer}” gets {share}", { answer: bare(answers[1].name), share: inPercent(share) });
      cell.style.background = `color-mix(in srgb, #7c4dff ${Math.round(60 * share)}%, transparent)`;
    }
  }

  async function read(ask, text) {
    await ask("travels", { text, other: other.value }, (part) => {
      if (part.places) begin(part);
      else if (part.shares) fill(part);
    });
    return "";
  }

  const changed = () => other.value !== other.defaultValue;
  const again = ownText("travels", told, { small: told.model, questions, read, changed, most: READ, watched: true });
  const moved = () => {
    carry("other", changed() ? other.value : null);
    again();
  };
  let waiting = 0;
  other.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(moved, 250);
  });
  at("back").addEventListener("click", () => {
    other.value = other.defaultValue;
    moved();
  });
}
