// What the pages that compute by themselves are made of.

import { percent, whole } from "../../components/_shared/numbers.js";
import { say } from "./said.js";
import { bytesOf, words } from "./tokens.js";

const CHIPS = 400; // of each cut
const TINTS = 6;

export function el(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

export function inPercent(part) {
  if (part > 0 && part < 0.0001) return `< ${percent(0.0001, 2)}`;
  if (part > 0.9995 && part < 1) return `> ${percent(0.999)}`;
  return percent(part, part < 0.1 ? 2 : 1);
}

// A number with its sign, which no line breaks apart.
export const unbroken = (number) => number.replaceAll(" ", "\u00a0");

export const spoken = (text) => text.replaceAll(" ", "·").replaceAll("\n", "⏎").replaceAll("\t", "⇥");

// The same text cut in three ways, a row each, and by a tokenizer where there is one.
export function cutRows(text, { tokenizer, names, whose } = {}) {
  if (!text) return [];
  const row = (title, pieces, of) => {
    const line = el("div", "cut");
    line.append(el("p", "caption", say(title, { count: whole(pieces.length), whose: of })));
    const chips = el("div", "chips");
    for (const [i, [shown, about]] of pieces.slice(0, CHIPS).entries()) {
      const chip = el("span", `chip tint-${i % TINTS}`, shown);
      chip.title = about;
      chips.append(chip);
    }
    if (pieces.length > CHIPS) chips.append(el("span", "muted", say("and {count} more", { count: whole(pieces.length - CHIPS) })));
    line.append(chips);
    return line;
  };
  const characters = [...text];
  const long = (count) => (count === 1 ? say("1 character") : say("{count} characters", { count }));
  const tokens = () => {
    const pieces = tokenizer.encode(text).map((id) => [names[id], say("token {id}", { id })]);
    return row("Tokens of {whose}: {count}", pieces, whose);
  };
  return [
    ...(tokenizer ? [tokens()] : []),
    row(
      "Words and marks: {count}",
      words(text).map((word) => [spoken(word), long([...word].length)]),
    ),
    row(
      "Characters: {count}",
      characters.map((sign) => [spoken(sign), `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`]),
    ),
    row(
      "Bytes (UTF-8): {count}",
      Array.from(bytesOf(text), (byte) => [byte.toString(16).padStart(2, "0"), say("byte {byte}", { byte })]),
    ),
  ];
}
