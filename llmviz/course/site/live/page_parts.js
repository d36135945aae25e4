// What the pages that compute by themselves are made of.

import { bytesOf, words } from "./tokens.js";

const CHIPS = 400; // of each cut
const TINTS = 6;

export function el(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

export function percent(share) {
  if (share > 0 && share < 0.0001) return "< 0.01 %";
  if (share > 0.9995 && share < 1) return "> 99.9 %";
  return `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;
}

export const spoken = (text) => text.replaceAll(" ", "·").replaceAll("\n", "⏎").replaceAll("\t", "⇥");

// The same text cut in three ways, a row each, and by a tokenizer where there is one.
export function cutRows(text, { tokenizer, names, whose } = {}) {
  const row = (title, pieces) => {
    const line = el("div", "cut");
    line.append(el("p", "caption", `${title}: ${pieces.length.toLocaleString("en")}`));
    const chips = el("div", "chips");
    for (const [i, [shown, about]] of pieces.slice(0, CHIPS).entries()) {
      const chip = el("span", `chip tint-${i % TINTS}`, shown);
      chip.title = about;
      chips.append(chip);
    }
    if (pieces.length > CHIPS) chips.append(el("span", "muted", `and ${(pieces.length - CHIPS).toLocaleString("en")} more`));
    line.append(chips);
    return line;
  };
  const characters = [...text];
  const tokens = () =>
    row(
      `Tokens of ${whose}`,
      tokenizer.encode(text).map((id) => [names[id], `token ${id}`]),
    );
  return [
    ...(tokenizer ? [tokens()] : []),
    row(
      "Words and marks",
      words(text).map((word) => [spoken(word), `${[...word].length} characters`]),
    ),
    row(
      "Characters",
      characters.map((sign) => [spoken(sign), `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`]),
    ),
    row(
      "Bytes (UTF-8)",
      Array.from(bytesOf(text), (byte) => [byte.toString(16).padStart(2, "0"), `byte ${byte}`]),
    ),
  ];
}
