// The neighbours of a token of a visitor's own text among all vectors of the model, by their cosine.

import { opened } from "./loaded.js";
import { ownText } from "./own_text.js";
import { el } from "./page_parts.js";
import { cosine } from "./parts.js";

const SHOWN = 12; // neighbours
const TOKENS = 24; // of the text that can be chosen

// The tokens whose vectors point most alike, each with its cosine; of equal ones the lower id is first.
export function neighbours(model, id, count) {
  const { n_embd, vocab_size } = model.config;
  const vector = (token) => model.weights["token.weight"].subarray(token * n_embd, (token + 1) * n_embd);
  const own = vector(id);
  return Array.from({ length: vocab_size }, (_, token) => [token, cosine(own, vector(token))])
    .filter(([token, alike]) => token !== id && alike !== null)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, count);
}

// The last token that is a word of its own, or the first of all: a part of a word has no meaning to compare.
function wholeWord(names) {
  const begins = (name) => !/^[\p{L}\p{N}]/u.test(name ?? "·");
  return Math.max(
    0,
    names.findLastIndex((name, i) => /^·\p{L}/u.test(name) && begins(names[i + 1])),
  );
}

export function start({ model: data }) {
  const at = (name) => document.getElementById(`alike-${name}`);
  let chosen = -1; // the token's place in the text

  function show({ model, names }, ids) {
    for (const [place, button] of [...at("tokens").children].entries()) button.setAttribute("aria-pressed", String(place === chosen));
    if (!ids.length) return at("rows").replaceChildren();
    at("rows").replaceChildren(
      ...neighbours(model, ids[chosen], SHOWN).map(([token, alike]) => {
        const line = el("tr");
        const cell = el("td", "bar");
        const bar = el("span", "length");
        bar.style.width = `calc(var(--bar) * ${Math.max(0, alike).toFixed(4)})`;
        cell.append(bar, el("span", "", alike.toFixed(3).replace("-", "−")));
        line.append(el("th", "", names[token]), cell);
        return line;
      }),
    );
  }

  const load = async () => opened(await globalThis.llmvizSite.data(data));
  ownText("alike", load, (loaded, text) => {
    const ids = loaded.tokenizer.encode(text).slice(0, TOKENS);
    if (chosen < 0 || chosen >= ids.length) chosen = wholeWord(ids.map((id) => loaded.names[id]));
    at("tokens").replaceChildren(
      ...ids.map((id, place) => {
        const button = el("button", "chip", loaded.names[id]);
        button.type = "button";
        button.addEventListener("click", () => {
          chosen = place;
          show(loaded, ids);
        });
        return button;
      }),
    );
    show(loaded, ids);
    return ids.length ? "" : "Type something: without a text there is no token to compare.";
  });
}
