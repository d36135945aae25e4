// A visitor's own text, cut in four ways: by the tokenizer of the stage, as its picture shows it, and by
// words, characters and bytes.

import { fixed, whole } from "../../components/_shared/numbers.js";
import { serving } from "./engine.js";
import { tokenizerOf } from "./loaded.js";
import { ownText } from "./own_text.js";
import { cutRows } from "./page_parts.js";
import { showing } from "./pictures.js";
import { packed } from "./reading.js";
import { say } from "./said.js";
import { isWhole, words } from "./tokens.js";

export { tokenizerOf, words };

const LIMIT = 3000; // tokens that the picture draws

const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");

// What the strip of tokens is told: see llmviz/course/components/token_strip/view.py.
export function stripOf(text, { tokenizer, nameOf }) {
  const all = tokenizer.encode(text);
  const ids = all.slice(0, LIMIT);
  const bytes = ids.map((id) => tokenizer.bytes(id));
  const ends = [];
  for (const some of bytes) ends.push((ends.at(-1) ?? 0) + some.length);
  const charAt = []; // the character that a byte belongs to
  for (const [place, sign] of [...text].entries()) {
    if (charAt.length > ends.at(-1)) break;
    for (let i = new TextEncoder().encode(sign).length; i; i--) charAt.push(place);
  }
  const numbers = (Kind, values) => Object.assign(Kind.from(values), { shape: [values.length] });
  const starts = ends.map((end, i) => end - bytes[i].length);
  const row = {
    name: "",
    note: "",
    role: "",
    ghost: null,
    total: all.length,
    ids: numbers(Int32Array, ids),
    texts: ids.map(nameOf),
    whole: numbers(Uint8Array, bytes.map(isWhole)),
    hex: bytes.map((some) => Array.from(some, hex).join(" ")),
    byteStart: numbers(Int32Array, starts),
    byteEnd: numbers(Int32Array, ends),
    charStart: numbers(
      Int32Array,
      starts.map((byte) => charAt[byte]),
    ),
    charEnd: numbers(
      Int32Array,
      ends.map((byte) => charAt[byte - 1] + 1),
    ),
    values: null,
    details: null,
  };
  const empty = { characters: null, byteLengths: null, wide: null, selected: null };
  return { mode: "chips", rows: [row], ...empty, showIds: true, valueLabel: "", ends: null, valueRange: [0, 1], limit: LIMIT };
}

// How many numbers became of how many characters, as a sentence; "" of nothing.
function became(signs, count) {
  if (!count) return "";
  if (count === 1) return signs === 1 ? say("One character became one number.") : say("{signs} characters became one number.", { signs });
  const given = { signs: whole(signs), count: whole(count), each: fixed(signs / count, 2) };
  if (signs === 1) return say("One character became {count} numbers.", given);
  return say("{signs} characters became {count} numbers: {each} characters per token.", given);
}

const questions = {
  cut(model, { text, key }) {
    const strip = stripOf(text, model);
    return { strip: packed(strip, key), total: strip.rows[0].total };
  },
};
export function serve(scope) {
  serving(questions, scope);
}

export function start(told, views) {
  const at = (name) => document.getElementById(`cut-${name}`);
  const show = showing(views);
  ownText("cut", told, {
    small: told.tokenizer,
    questions,
    async read(ask, text) {
      const key = `cut.${ask.on}`;
      const { strip, total } = await ask("cut", { text, key });
      show("token_strip", at("strip"), key, strip);
      at("said").textContent = became([...text].length, total);
      at("rows").replaceChildren(...cutRows(text));
      return text ? "" : say("Type something: without a text there is nothing to cut.");
    },
  });
}
