// The whole machine on a visitor's own text: the stage's picture, which also writes on.

import { whole } from "../../components/_shared/numbers.js";
import { engine, idsOf, serving } from "./engine.js";
import { smallModel } from "./loaded.js";
import { ownText } from "./own_text.js";
import { machineOf, showing } from "./pictures.js";
import { packed } from "./reading.js";
import { say } from "./said.js";
import { highest } from "./sampling.js";

const MOST = 64; // tokens of a real model: it keeps of each what the picture may show

const questions = {
  // more: ids that were written behind the text.
  async machine(model, { text, more, key }, { paced }) {
    const all = idsOf(model, text);
    const ids = [...all, ...more].slice(-model.most);
    const logits = await paced(ids);
    const [best] = highest(logits, 1);
    return {
      picture: packed(machineOf(model, ids), key),
      next: best,
      written: model.tokenizer.decode([...more, best]),
      ends: model.ends.includes(best) || (!model.cuts && ids.length >= model.most),
      reads: ids.length,
      count: model.start.length + model.tokenizer.encode(text).length,
    };
  },
};
export function serve(scope) {
  serving(questions, scope);
}

export { engine, questions, smallModel };

export function start(told, views) {
  const field = document.getElementById("machine-text");
  let now = null; // what was read last
  let writing = false;
  const site = globalThis.llmvizSite;
  const show = showing(views, { ask: (slider, asked, act) => (asked === "write" ? write(act) : site.asks(slider, asked, act)) });

  async function read(ask, text, more = []) {
    const key = `machine.${ask.on}`;
    now = { ask, text, more, ...(await ask("machine", { text, more, key })) };
    show("machine", document.getElementById("machine-picture"), key, now.picture);
    document.getElementById("machine-rounded").hidden = ask.on !== "small";
    const { reads, count } = now;
    return count > reads ? say("The model reads the last {reads} of your {count} tokens.", { reads, count: whole(count) }) : "";
  }

  // The most probable token, so many times, into the text itself, unless somebody types or presses Escape.
  async function write(count) {
    if (writing) return;
    writing = true;
    const { ask, text } = now;
    for (let more = 0; more < count && writing && !now.ends; more++) {
      const wrote = `${text}${now.written}`;
      field.value = wrote;
      field.scrollTop = field.scrollHeight;
      await read(ask, text, [...now.more, now.next]);
      await new Promise(requestAnimationFrame);
      if (field.value !== wrote) break;
    }
    writing = false;
    field.dispatchEvent(new Event("input")); // it is kept as if it had been typed
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && (writing = false));

  ownText("machine", told, { small: told.model, questions, read, always: true, most: MOST, watched: true });
}
