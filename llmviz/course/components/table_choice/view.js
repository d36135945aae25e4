// Tells the picture of a table which row is chosen and which are marked. The picture's own message

import { unpack } from "../_shared/message.js";
// holds the whole table; in one with it, every choice would send a million numbers again.

export default function (component) {
  const choice = unpack(component.data);
  (window.llmvizChoices ??= {})[choice.table] = choice;
  window.dispatchEvent(new CustomEvent("llmviz-choice", { detail: choice }));
}
