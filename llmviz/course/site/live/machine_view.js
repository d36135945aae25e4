// The whole machine on a visitor's own text: the stage's picture, which also writes on.

import { opened, Reader } from "./loaded.js";
import { ownText } from "./own_text.js";
import { machineOf, showing } from "./pictures.js";
import { ranked } from "./sampling.js";

export { opened };

export function start({ model: data }, views) {
  const field = document.getElementById("machine-text");
  let now = null;
  let ids = [];
  const ask = (slider, asked, act) => (asked === "write" ? write(act) : globalThis.llmvizSite.asks(slider, asked, act));
  const show = showing(views, { ask });
  const most = () => now.model.config.context_length;

  function draw() {
    now.logits = now.reader.read(ids);
    show("machine", document.getElementById("machine-picture"), "machine.own", machineOf(now, ids));
  }

  function read(loaded, text) {
    now = loaded;
    const all = [now.tokenizer.end, ...now.tokenizer.encode(text)];
    ids = all.slice(-most());
    draw();
    return all.length > ids.length ? `The model reads the last ${ids.length} of your ${all.length.toLocaleString("en")} tokens.` : "";
  }

  // The most probable token, so many times, into the text itself.
  async function write(count) {
    let text = field.value;
    for (let more = 0; more < count; more++) {
      const next = ranked(now.logits)[0];
      if (next === now.tokenizer.end) break;
      field.value = text += new TextDecoder().decode(now.tokenizer.bytes(next));
      ids = [...ids, next].slice(-most());
      draw();
      field.scrollTop = field.scrollHeight;
      await new Promise(requestAnimationFrame);
      if (document.activeElement === field) break; // somebody goes in to type
    }
    field.dispatchEvent(new Event("input")); // it is kept as if it had been typed
  }

  const load = async () => {
    const loaded = opened(await globalThis.llmvizSite.data(data));
    return { ...loaded, reader: new Reader(loaded.model) };
  };
  ownText("machine", load, read, { always: true });
}
