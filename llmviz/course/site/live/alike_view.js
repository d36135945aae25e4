// The neighbours of a token of a visitor's own text among all vectors of the model, by their cosine.

import { fixed, whole } from "../../components/_shared/numbers.js";
import { Refused } from "./behind.js";
import { serving } from "./engine.js";
import { ownText } from "./own_text.js";
import { el } from "./page_parts.js";
import { matricesOf, showing } from "./pictures.js";
import { packed } from "./reading.js";
import { say } from "./said.js";
import { highest } from "./sampling.js";

const SHOWN = 12; // neighbours
const TOKENS = 24; // of the text that can be chosen
const SQUARES = ["A · A", "B · B"];
const LENGTHS = ["|A|", "|B|"];
const [TIMES, DOT, BOTH] = ["A × B", "A · B", "|A| × |B|"];

// The tokens whose vectors point most alike, each with its cosine; of equal ones the lower id is first.
// One without a direction has none.
export function neighbours(model, id, count) {
  const lengths = model.lengths();
  const alike = model.scores(model.row(id)).map((score, token) => {
    const both = lengths[token] * lengths[id];
    return both && token !== id ? Math.max(-1, Math.min(1, score / both)) : -Infinity;
  });
  return highest(alike, count).map((token) => [token, alike[token]]);
}

// Two vectors cell by cell, and how their cosine comes about, in two pictures: each number opens to
// its arithmetic.
function pairOf(a, b, names) {
  const product = (x, y) => x.reduce((sum, number, i) => sum + number * y[i], 0);
  const [aa, bb, ab] = [product(a, a), product(b, b), product(a, b)];
  const [long, wide] = [Math.sqrt(aa), Math.sqrt(bb)];
  const from = (kind, of, more = {}) => ({ kind, of, ...more });
  const cell = (name, value, op, role) => ({ name, rows: [[value]], op, role });
  const dot = (x, y) => from("matmul", [x, y], { transpose_b: true });
  const root = (name) => from("function", [name], { text: "√" });
  const [A, B] = names;
  const cosine = say("cosine");
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
    cell(cosine, ab / (long * wide), from("divided", [DOT, BOTH]), "value"),
  ];
  return [
    matricesOf(matrices, [[A], [B], [TIMES]], { stacked: true }),
    matricesOf(matrices, [
      [DOT, "÷", BOTH],
      ["", "=", cosine],
    ]),
  ];
}

// The last token that is a word of its own, or the first of all: a part of a word has no meaning to compare.
function wholeWord(names) {
  const begins = (name) => !/^[\p{L}\p{N}]/u.test(name ?? "·");
  return Math.max(
    0,
    names.findLastIndex((name, i) => /^·\p{L}/u.test(name) && begins(names[i + 1])),
  );
}

const questions = {
  tokens({ tokenizer, nameOf }, { text }) {
    const ids = tokenizer.encode(text);
    const tokens = ids.slice(0, TOKENS).map((id) => [id, nameOf(id)]);
    return { tokens, more: ids.length - tokens.length };
  },
  // The neighbours of a token, and its vector beside that of one of them: `other`, or the nearest.
  near({ model, nameOf }, { id, other, keys }) {
    const near = neighbours(model, id, SHOWN);
    const compared = near.some(([token]) => token === other) ? other : near[0][0];
    const vectors = [id, compared].map((token) => [...model.row(token)]);
    const pair = pairOf(...vectors, [`A: ${nameOf(id)}`, `B: ${nameOf(compared)}`]).map((picture, i) => packed(picture, keys[i]));
    return { near: near.map(([token, alike]) => [token, nameOf(token), alike]), other: compared, pair };
  },
};
export function serve(scope) {
  serving(questions, scope);
}

export function start(told, views) {
  const at = (name) => document.getElementById(`alike-${name}`);
  let chosen = -1; // the token's place in the text
  let other = -1; // the token that it is compared with
  let of = ""; // the model whose tokens these are
  const draw = showing(views);

  async function show(ask, tokens) {
    for (const [place, button] of at("tokens").querySelectorAll("button").entries())
      button.setAttribute("aria-pressed", String(place === chosen));
    at("pair").hidden = !tokens.length;
    if (!tokens.length) return at("rows").replaceChildren();
    const keys = ["cells", "cosine"].map((place) => `alike.${place}.${ask.on}`);
    const { near, pair, other: compared } = await ask("near", { id: tokens[chosen][0], other, keys });
    other = compared;
    for (const [i, place] of ["cells", "cosine"].entries()) draw("matrix_view", at(place), keys[i], pair[i]);
    at("rows").replaceChildren(
      ...near.map(([token, name, alike]) => {
        const line = el("tr");
        const cell = el("td", "bar");
        const bar = el("span", "length");
        bar.style.width = `calc(var(--bar) * ${Math.max(0, alike).toFixed(4)})`;
        cell.append(bar, el("span", "", fixed(alike, 3)));
        const head = el("th");
        const button = el("button", "chip", name);
        button.type = "button";
        button.setAttribute("aria-pressed", String(token === other));
        button.addEventListener("click", () => {
          other = token;
          show(ask, tokens);
        });
        head.append(button);
        line.append(head, cell);
        return line;
      }),
    );
  }

  async function read(ask, text) {
    const { tokens, more } = await ask("tokens", { text });
    if (of !== ask.on) [of, chosen, other] = [ask.on, -1, -1];
    if (chosen < 0 || chosen >= tokens.length) chosen = wholeWord(tokens.map(([, name]) => name));
    at("tokens").replaceChildren(
      ...tokens.map(([, name], place) => {
        const button = el("button", "chip", name);
        button.type = "button";
        button.addEventListener("click", () => {
          chosen = place;
          show(ask, tokens);
        });
        return button;
      }),
      ...(more ? [el("span", "muted", say("and {count} more", { count: whole(more) }))] : []),
    );
    await show(ask, tokens);
    if (!tokens.length) throw new Refused(say("Type something: without a text there is no token to compare."));
  }

  ownText("alike", told, { small: told.model, questions, read, most: TOKENS, watched: false });
}
