// The page of a real model: it is loaded after a click, cuts and reads a visitor's text, and writes on.

import { fixed, whole } from "../../components/_shared/numbers.js";
import { Behind, Refused } from "./behind.js";
import { ByteLevel } from "./byte_level.js";
import { carry, linked } from "./carried.js";
import { engine, idsOf, serving } from "./engine.js";
import { softmax } from "./model.js";
import { el, inPercent } from "./page_parts.js";
import { realLoad } from "./real_load.js";
import { say } from "./said.js";
import { draw, highest } from "./sampling.js";

const LONGEST = 400; // tokens of a text
const ROOM = 512; // tokens of a text with what is written behind it
const WRITES = 60; // tokens that one press writes
const SHOWN = 10; // tokens that are told by their names

const questions = {
  // What comes behind a text and the ids that were written behind it.
  async read(model, { text, more }, { paced, tell }) {
    const { tokenizer, nameOf } = model;
    const named = (ids) => ids.map((id) => [id, nameOf(id)]);
    const begun = performance.now();
    const ids = idsOf(model, text);
    if (!more.length) tell({ cut: named(ids) });
    const logits = await paced([...ids, ...more]);
    const top = named(highest(logits, SHOWN));
    const seconds = (performance.now() - begun) / 1000;
    return { logits, top, count: ids.length + more.length, written: tokenizer.decode(more), ends: model.ends, seconds };
  },
  // The most probable token behind each layer, with its chance.
  lens({ model, reader, nameOf }) {
    return reader.cache.seen.at(-1).vectors.map((vector) => {
      const logits = model.logits(vector);
      const [best] = highest(logits, 1);
      return [nameOf(best), softmax(logits)[best]];
    });
  },
};
export function serve(scope) {
  serving(questions, scope);
}

export { ByteLevel, engine, questions };

// The chances at a temperature; at 0 the most probable token has all. It is computed for each token that is
// written, on the page's own thread: plain loops take a millisecond for 49,152 tokens.
export function chances(logits, temperature) {
  const all = new Float64Array(logits.length);
  const [best] = highest(logits, 1);
  all[best] = 1;
  if (!temperature) return all;
  let sum = 0;
  for (let id = 0; id < all.length; id++) sum += all[id] = Math.exp((logits[id] - logits[best]) / temperature);
  for (let id = 0; id < all.length; id++) all[id] /= sum;
  return all;
}

export function start({ name, manifest, root, example }) {
  const at = (part) => document.getElementById(`real-${part}`);
  const field = at("text");
  const put = (part, text) => (at(part).textContent = text);
  let behind = null;
  let ready = false;
  let now = null; // what it read last
  let more = []; // ids that were written behind the text
  let shown = null; // the text whose tokens stand below
  let writing = 0; // tokens that are still to be written
  let asked = false; // whether a token is being read that was written

  // ---- loading

  function hear(report) {
    if (report.stopped !== undefined) {
      behind.end();
      [behind, ready, writing] = [null, false, 0];
    }
    loader.hear(report);
  }
  const loader = realLoad("real", {
    ...{ manifest, base: new URL(root, location.href).href, what: say("the model") },
    given: { most: LONGEST, room: ROOM, watched: false },
    send(message) {
      behind ??= new Behind(globalThis[name].source, questions, hear);
      behind.send(message);
    },
    ready() {
      ready = true;
      at("before").hidden = true;
      for (const part of ["writing", "lens"]) at(part).hidden = false;
      reread();
    },
  });

  // ---- reading

  // What is typed is read when the hand rests for a moment; the newest text alone.
  function reread() {
    [writing, now, more, asked] = [0, null, [], false];
    put("written", "");
    put("ended", "");
    at("back").disabled = true;
    at("write").textContent = say("Write on");
    shown = field.value;
    at("shares").classList.toggle("waits", ready); // its chances are those of the text before
    if (ready) return read();
    const recorded = shown === example.text;
    at("live").hidden = !recorded;
    put("said", recorded ? "" : say("The model reads your text once it is loaded."));
    if (recorded) record();
  }

  async function read() {
    const text = shown;
    try {
      const found = await behind.ask("read", "real", { text, more }, ({ cut, reading, of }) => {
        if (text !== shown) return;
        if (cut) {
          put("said", "");
          at("live").hidden = false;
          chips(cut);
        } else if (!more.length) put("said", say("Reading: {reading} of {of} tokens …", { reading, of }));
      });
      if (text === shown) come(found);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (text !== shown) return;
      put("said", error.message);
      at("live").hidden = true;
    }
  }

  function chips(cut) {
    put("tokens", say("Its tokens: {count}", { count: cut.length }));
    at("chips").replaceChildren(
      ...cut.map(([id, name]) => {
        const chip = el("span", "chip", name);
        chip.title = say("token {id}", { id: whole(id) });
        return chip;
      }),
    );
  }

  // A row of a table: its texts, and a bar as long as its chance.
  function row(texts, share) {
    const line = el("tr");
    const cell = el("td", "bar");
    const bar = el("span", "length");
    bar.style.width = `calc(var(--bar) * ${share.toFixed(4)})`;
    cell.append(bar, el("span", "", inPercent(share)));
    line.append(...texts.map((text) => el("th", "", text)), cell);
    line.firstChild.scope = "row";
    return line;
  }

  function bars(rows) {
    at("next").replaceChildren(...rows.map(([name, share]) => row([name], share)));
    const rest = Math.max(
      0,
      rows.reduce((sum, [, share]) => sum - share, 1),
    );
    const count = whole(manifest.config.vocab_size - rows.length);
    put("rest", say("All {count} other tokens together: {share}.", { count, share: inPercent(rest) }));
  }

  function record() {
    chips(example.cut);
    bars(example.next);
  }

  const temperature = () => Number(at("temperature").value);

  function show() {
    put("temperature-now", temperature() ? fixed(temperature(), 2) : say("0: the most probable"));
    if (!now) return;
    now.chances = chances(now.logits, temperature());
    bars(now.top.map(([id, name]) => [name, now.chances[id]]));
  }

  function come(found) {
    [now, asked] = [found, false];
    put("said", "");
    at("shares").classList.remove("waits");
    show();
    at("written").replaceChildren(el("span", "muted", shown), el("strong", "", found.written));
    if (found.written) at("back").disabled = false;
    goOn();
    if (!writing) look();
  }

  // What stands behind each layer is computed for who looks at it, when the model rests.
  const look = async () => at("lens").open && now && layers(await behind.ask("lens", "real", {}));
  at("lens").addEventListener("toggle", look);

  function layers(lens) {
    at("layers").replaceChildren(...lens.map(([name, share], layer) => row([layer, name], share)));
  }

  // ---- writing

  function goOn() {
    if (!writing || asked || !now) return;
    const id = draw(now.chances, Math.random());
    if (now.ends.includes(id)) return rest(say("The model ended its text here."));
    if (now.count >= ROOM) return rest(say("The page keeps {count} tokens, and all of them are used.", { count: ROOM }));
    writing--;
    if (!writing) return rest(speed());
    asked = true;
    more = [...more, id];
    read();
  }

  const speed = () => (now.written ? say("A token took {ms} ms.", { ms: fixed(1000 * now.seconds, 0) }) : "");

  function rest(said) {
    writing = 0;
    at("write").textContent = say("Write on");
    put("ended", said);
    look();
  }

  at("write").addEventListener("click", () => {
    if (writing) return rest(speed());
    writing = WRITES + 1;
    at("write").textContent = say("Stop");
    put("ended", "");
    goOn();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && writing && rest(speed()));
  at("back").addEventListener("click", reread);

  // ---- the state of the page, which its address carries behind a #

  function link() {
    carry("text", field.value === example.text ? null : field.value);
    carry("t", temperature() === 1 ? null : String(temperature()));
  }
  let waiting = 0;
  field.addEventListener("input", () => {
    link();
    clearTimeout(waiting);
    waiting = setTimeout(reread, ready ? 250 : 0);
  });
  at("temperature").addEventListener("input", () => {
    link();
    show();
  });
  field.value = linked("text") ?? example.text;
  if (Number.isFinite(Number(linked("t") ?? NaN))) at("temperature").value = linked("t");
  show();
  reread();
}
