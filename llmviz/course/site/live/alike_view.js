// The neighbours of a token of a visitor's own text among all vectors of the model, by their cosine.

import { opened } from "./loaded.js";
import { ownText } from "./own_text.js";
import { el } from "./page_parts.js";
import { cosine } from "./parts.js";
import { matricesOf, showing } from "./pictures.js";

const SHOWN = 12; // neighbours
const TOKENS = 24; // of the text that can be chosen
const SQUARES = ["A · A", "B · B"];
const LENGTHS = ["|A|", "|B|"];
const [TIMES, DOT, BOTH, COSINE] = ["A × B", "A · B", "|A| × |B|", "cosine"];

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

// Two vectors cell by cell, and how their cosine comes about, in two pictures: each number opens to
// its arithmetic.
export function pairOf(a, b, names) {
  const product = (x, y) => x.reduce((sum, number, i) => sum + number * y[i], 0);
  const [aa, bb, ab] = [product(a, a), product(b, b), product(a, b)];
  const [long, wide] = [Math.sqrt(aa), Math.sqrt(bb)];
  const from = (kind, of, more = {}) => ({ kind, of, ...more });
  const cell = (name, value, op, role) => ({ name, rows: [[value]], op, role });
  const dot = (x, y) => from("matmul", [x, y], { transpose_b: true });
  const root = (name) => from("function", [name], { text: "√" });
  const [A, B] = names;
  const limit = Math.max(...a.map(Math.abs), ...b.map(Math.abs)) || 1;
  const matrices = [
    { name: A, rows: [a], role: "residual", limit },
    { name: B, rows: [b], role: "residual", limit },
    { name: TIMES, rows: [a.map((number, i) => number * b[i])], op: from("multiply", [A, B]) },
    cell(SQUARES[0], aa, dot(A, A)),
    cell(SQUARES[1], bb, dot(B, B)),
    cell(LENGTHS[0], long, root(SQUARES[0])),
    cell(LENGTHS[1], wide, root(SQUARES[1])),
    cell(DOT, ab, dot(A, B)),
    cell(BOTH, long * wide, from("multiply", LENGTHS)),
    cell(COSINE, ab / (long * wide), from("divided", [DOT, BOTH]), "value"),
  ];
  return [matricesOf(matrices, [[A], [B], [TIMES]], { stacked: true }), matricesOf(matrices, [[DOT, "÷", BOTH, "=", COSINE]])];
}

// The last token that is a word of its own, or the first of all: a part of a word has no meaning to compare.
function wholeWord(names) {
  const begins = (name) => !/^[\p{L}\p{N}]/u.test(name ?? "·");
  return Math.max(
    0,
    names.findLastIndex((name, i) => /^·\p{L}/u.test(name) && begins(names[i + 1])),
  );
}

export function start({ model: data }, views) {
  const at = (name) => document.getElementById(`alike-${name}`);
  let chosen = -1; // the token's place in the text
  let other = -1; // the token that it is compared with
  const draw = showing(views);

  function show({ model, names }, ids) {
    for (const [place, button] of [...at("tokens").children].entries()) button.setAttribute("aria-pressed", String(place === chosen));
    at("pair").hidden = !ids.length;
    if (!ids.length) return at("rows").replaceChildren();
    const near = neighbours(model, ids[chosen], SHOWN);
    if (!near.some(([token]) => token === other)) other = near[0][0];
    const size = model.config.n_embd;
    const vector = (token) => [...model.weights["token.weight"].subarray(token * size, (token + 1) * size)];
    const called = [`A: ${names[ids[chosen]]}`, `B: ${names[other]}`];
    const [cells, cosines] = pairOf(vector(ids[chosen]), vector(other), called);
    draw("matrix_view", at("cells"), "alike.cells", cells);
    draw("matrix_view", at("cosine"), "alike.cosine", cosines);
    at("rows").replaceChildren(
      ...near.map(([token, alike]) => {
        const line = el("tr");
        const cell = el("td", "bar");
        const bar = el("span", "length");
        bar.style.width = `calc(var(--bar) * ${Math.max(0, alike).toFixed(4)})`;
        cell.append(bar, el("span", "", alike.toFixed(3).replace("-", "−")));
        const head = el("th");
        const button = el("button", "chip", names[token]);
        button.type = "button";
        button.setAttribute("aria-pressed", String(token === other));
        button.addEventListener("click", () => {
          other = token;
          show({ model, names }, ids);
        });
        head.append(button);
        line.append(head, cell);
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
