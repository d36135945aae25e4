// The page with a whole model in it: a text is cut, read, continued, and looked into, all in the browser.

import { fixed, whole } from "../../components/_shared/numbers.js";
import { gridOf } from "./heads.js";
import { Reader, smallModel } from "./loaded.js";
import { softmax } from "./model.js";
import { cutRows, el, inPercent } from "./page_parts.js";
import { machineOf, showing } from "./pictures.js";
import { machineValues } from "./reading.js";
import { say } from "./said.js";
import { draw, ranked, sampled } from "./sampling.js";
import { words } from "./tokens.js";

export { draw, machineValues, Reader, sampled, smallModel, words };

const SHOWN = 12; // tokens in the table
const MOST = 40; // tokens that one press writes
const HEADS = 40; // tokens of which the heads are shown: the maps of more are hard to read
const site = globalThis.llmvizSite;

export function start({ models }, views) {
  const at = (name) => document.getElementById(`live-${name}`);
  const field = at("text");
  const chosen = new Map(); // models that were loaded
  let now = null; // the model that is shown
  let written = [];
  let typed = "";
  let running = false;

  const told = (text) => (at("told").textContent = text);

  async function load(name) {
    const about = models.find((one) => one.name === name);
    if (!chosen.has(name)) {
      told(say("Loading {name} …", { name }));
      chosen.set(name, { about, ...smallModel(await site.data(about.data)) });
    }
    const before = now?.about;
    now = chosen.get(name);
    if (!before || field.value === before.text) field.value = now.about.text;
    const { vocab_size } = now.model.config;
    at("vocabulary").textContent = whole(vocab_size);
    now.stops = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].filter((k) => k < vocab_size).concat(vocab_size);
    at("k").max = now.stops.length - 1;
    at("k").value = now.stops.length - 1;
    told("");
    reread();
  }

  const settings = () => ({
    temperature: Number(at("temperature").value),
    topK: now.stops[at("k").value],
    topP: Number(at("p").value),
  });

  // What the text is to the model: the end token stands in front of every text. One that it wrote ends
  // the text, and is not read any more.
  function ids() {
    const all = [now.tokenizer.end, ...now.tokenizer.encode(typed), ...written.filter((id) => id !== now.tokenizer.end)];
    return all.slice(-now.model.config.context_length);
  }

  function reread() {
    written = [];
    typed = field.value;
    at("drawn").textContent = "";
    at("time").textContent = "";
    cuts();
    read();
  }

  function read() {
    const wanted = ids();
    const { context_length } = now.model.config;
    const count = 1 + now.tokenizer.encode(typed).length + written.length;
    const given = { most: context_length, count: whole(count) };
    told(count > context_length ? say("The model reads {most} tokens at most. These are the last {most} of {count}.", given) : "");
    now.logits = now.reader.read(wanted);
    predict(ended() ? now.tokenizer.end : null);
    show("machine", "machine", machineOf(now, wanted));
    attention(wanted);
    const done = full() || ended();
    at("draw").disabled = at("write").disabled = done;
    at("back").disabled = !written.length;
    at("written").replaceChildren(el("span", "muted", typed), el("strong", "", text(written)));
  }

  const full = () => 1 + now.tokenizer.encode(typed).length + written.length >= now.model.config.context_length;
  const ended = () => written.at(-1) === now.tokenizer.end;
  const text = (some) =>
    new TextDecoder().decode(Uint8Array.from(some.filter((id) => id !== now.tokenizer.end).flatMap((id) => [...now.tokenizer.bytes(id)])));

  function cuts() {
    at("cuts").replaceChildren(...cutRows(typed, { ...now, whose: now.about.name }));
  }

  function predict(drawn = null) {
    const set = settings();
    at("temperature-now").textContent = set.temperature === 0 ? say("0: the most probable") : fixed(set.temperature, 2);
    at("k-now").textContent = set.topK === now.model.config.vocab_size ? say("off") : whole(set.topK);
    at("p-now").textContent = set.topP >= 1 ? say("off") : fixed(set.topP, 2);
    const before = softmax(now.logits);
    const after = sampled(now.logits, set);
    const order = ranked(now.logits);
    const listed = order.slice(0, SHOWN);
    if (drawn !== null && !listed.includes(drawn)) listed.push(drawn);
    at("next").replaceChildren(
      ...listed.map((id) => {
        const line = el("tr", id === drawn ? "drawn" : "");
        line.append(el("th", "", now.names[id]), el("td", "number", fixed(now.logits[id], 3)));
        for (const share of [before[id], after[id]]) {
          const cell = el("td", "bar");
          const bar = el("span", "length");
          bar.style.width = `calc(var(--bar) * ${share.toFixed(4)})`;
          cell.append(bar, el("span", "", share === 0 ? say("cut") : inPercent(share)));
          line.append(cell);
        }
        return line;
      }),
    );
    const left = after.reduce((count, one) => count + (one > 0), 0);
    at("rest").textContent = say("{some} of {all} tokens can be drawn.", { some: whole(left), all: whole(after.length) });
    return after;
  }

  const ask = (slider, asked, act) => (asked === "write" ? write(act, { greedy: true }) : site.asks(slider, asked, act));
  const shows = showing(views, { ask });
  const show = (name, place, payload) => shows(name, at(place), `live.${name}.${now.about.name}`, payload);

  function attention(read) {
    const names = read
      .slice(-HEADS)
      .map((id, i) => (i === 0 && read.length <= HEADS && id === now.tokenizer.end ? say("(start)") : now.names[id]));
    show("heads_grid", "heads", gridOf(now.reader, names, { chosen: [0, 0], lines: true }));
  }

  // Add a token: drawn by the settings, or the most probable one, as the button of the machine says.
  function one(greedy = false) {
    const after = sampled(now.logits, settings());
    const u = Math.random();
    const id = greedy ? ranked(now.logits)[0] : draw(after, u);
    at("drawn").textContent = greedy
      ? say("{token} was the most probable token, with {share}.", { token: now.names[id], share: inPercent(softmax(now.logits)[id]) })
      : say("u = {u} falls on {token}, which had {share}.", { u: fixed(u, 4), token: now.names[id], share: inPercent(after[id]) });
    written.push(id);
    if (id === now.tokenizer.end) at("drawn").textContent += ` ${say("This token ends the text.")}`;
  }

  at("draw").addEventListener("click", () => {
    one();
    read();
  });
  at("write").addEventListener("click", () => write(MOST));

  async function write(most, { greedy = false } = {}) {
    if (running) return;
    running = true;
    const model = now;
    const begun = typed;
    let spent = 0;
    let count = 0;
    while (count < most && now === model && typed === begun && !full() && !ended()) {
      one(greedy);
      const before = performance.now();
      if (!ended()) now.logits = now.reader.read(ids());
      spent += performance.now() - before;
      count++;
      at("written").replaceChildren(el("span", "muted", typed), el("strong", "", text(written)));
      await new Promise(requestAnimationFrame);
    }
    running = false;
    if (now !== model || typed !== begun) return;
    read();
    at("time").textContent = say("{count} tokens, {ms} ms of computing for each.", { count, ms: fixed(spent / count, 1) });
  }
  at("back").addEventListener("click", reread);
  for (const name of ["temperature", "k", "p"]) at(name).addEventListener("input", () => now && predict());
  let waiting = 0;
  field.addEventListener("input", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => now && reread());
  });
  const choices = [...document.querySelectorAll('.live input[name="model"]')];
  for (const choice of choices)
    choice.addEventListener("change", () => load(choice.value).catch(() => told(say("The file of this model is missing."))));
  load(choices.find((choice) => choice.checked).value).catch((error) => {
    console.error(error);
    told(say("The file of this model is missing."));
  });
}
