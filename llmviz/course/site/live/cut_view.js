// A visitor's own text, cut in four ways.

import { tokenizerOf } from "./loaded.js";
import { unpack } from "../../components/_shared/message.js";
import { ownText } from "./own_text.js";
import { cutRows } from "./page_parts.js";
import { words } from "./tokens.js";

export { tokenizerOf, words };

export function start({ tokenizer: data, whose }) {
  const load = async () => {
    const { tokenizer, names } = unpack(await globalThis.llmvizSite.data(data));
    return { tokenizer: tokenizerOf(tokenizer), names };
  };
  ownText("cut", load, ({ tokenizer, names }, text) => {
    document.getElementById("cut-rows").replaceChildren(...cutRows(text, tokenizer, names, whose));
    return text ? "" : "Type something: without a text there is nothing to cut.";
  });
}
