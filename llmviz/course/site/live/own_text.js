// The text field of a chapter's stage, and the model that reads it. While the field holds the example and a
// small model reads, the picture that was written of it stands with its question; any other text is read
// here, and its live picture takes that place. What reads it comes behind the first picture. What was typed
// stays in this browser, where it keeps anything, and stands in the fields of the other chapters, too; so
// does the choice of a real model, which comes after a click that says how much it loads.

import { Behind, Refused } from "./behind.js";
import { carry, linked } from "./carried.js";
import { realLoad, stopped } from "./real_load.js";
import { say } from "./said.js";

const KEPT = "llmviz-own-text";
const CHOSEN = "llmviz-own-model";
// Whether b stands behind a.
const follows = (a, b) => a.compareDocumentPosition(b) === Node.DOCUMENT_POSITION_FOLLOWING;

// What a browser keeps; one that keeps nothing has nothing.
function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {}
}

// name: what the ids of its elements begin with. told: what the page's script is told; `real` is there
// where a real model can read, too. small: the name of the small model's data. questions: as of `engine`.
// read: is given `ask`, for a question and what it needs, with `on`, the model that answers, and the text,
// at first and after each change; it draws, and returns what is to be said, if anything. always: the example
// is read here, too, since nothing is asked about its picture. changed: whether something beside the field is
// the visitor's own. most: tokens that a real model reads; watched: whether pictures show what is inside. Returns what reads the text again.
export function ownText(name, told, { small, questions, read, always = false, changed = () => false, most = 0, watched }) {
  const at = (part) => document.getElementById(`${name}-${part}`);
  const [field, back, section] = [at("text"), at("back"), document.getElementById("own")];
  const all = [...document.querySelectorAll("main *")];
  const heading = all.find((node) => node.tagName === "H2" && follows(section, node));
  const page = all.filter((node) => !node.closest(".onward, footer"));
  for (const node of page) if (follows(section, node) && (!heading || follows(node, heading))) node.classList.add("of-example");
  const heads = [document.querySelector("h1"), section.previousElementSibling].map((node) => ({ node, inside: [...node.childNodes] }));
  // Sections further down that ask about the example's picture.
  let about = false;
  for (const node of page) {
    if (node.tagName === "H2") about = told.own?.sections?.includes(node.textContent);
    node.classList.toggle("about-example", Boolean(about));
  }
  const shows = Boolean(told.real?.shown); // whether the example's picture is of the real model
  const tell = (text) => (at("told").textContent = text ?? "");
  let on = "small";
  const example = () => (on === "real" && told.real.text) || field.defaultValue;
  const isOwn = () => field.value !== example() || changed();
  let picked = false; // whether somebody has chosen which model reads
  let behind = null;
  let coming = null;
  let turn = 0;
  let waiting = 0;

  function open() {
    behind ??= new Behind(globalThis[told.name].source, questions, (report) => {
      if (report.stopped === undefined) return loader?.hear(report);
      behind.end();
      const was = on;
      [behind, coming, on] = [null, null, "small"];
      if (was === "small") return tell(stopped(report));
      loader.hear(report);
      choose("small");
    });
    return behind;
  }

  async function come() {
    coming ??= globalThis.llmvizSite.data(small).then((packed) => open().send({ small: packed }));
    try {
      await coming;
    } catch (error) {
      console.error(error);
      tell(say("A file of this page is missing."));
    }
  }

  // The picture that was written of the example, or the live one. written: whether title and hook are the example's.
  function stage(example, written) {
    document.body.classList.toggle("reads-own", !example);
    document.body.classList.toggle("reads-other", !written);
    at("live").hidden = example;
    const below = at("below");
    if (below) below.hidden = !heading?.checkVisibility();
    const texts = written ? [] : [told.own?.title, told.own?.hooks?.[on]];
    for (const [i, { node, inside }] of heads.entries()) node.replaceChildren(...(texts[i] ? [texts[i]] : inside));
  }

  async function again() {
    const mine = ++turn;
    back.hidden = !isOwn();
    const written = !isOwn() && (on === "real") === shows; // what was written of the example holds
    if (!(always || on === "real" || isOwn() || (picked && shows))) {
      stage(true, true);
      return tell("");
    }
    if (!coming && isOwn()) tell(say("Loading the model …"));
    await come();
    if (mine !== turn || !behind) return; // it may have stopped
    at("live").classList.toggle("waits", on === "real");
    // What stood there goes when something comes in its place.
    const comes = () => mine === turn && stage(false, written);
    const ask = async (question, given, take) => {
      const answer = await behind.ask(question, on, given, (part) => {
        if (part.reading) return mine === turn && tell(say("Reading: {reading} of {of} tokens …", part));
        comes();
        take?.(part);
      });
      comes();
      return answer;
    };
    try {
      const said = await read(Object.assign(ask, { on }), field.value);
      if (mine === turn) tell(said);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (mine !== turn) return;
      stage(false, written);
      tell(error.message);
      at("live").hidden = true;
    }
    if (mine === turn) at("live").classList.remove("waits");
  }

  function keepText() {
    keep(KEPT, field.value !== example() ? field.value : null);
    link();
    clearTimeout(waiting);
    waiting = setTimeout(again, on === "real" ? 250 : 0); // a real one reads when the hand rests
  }
  const link = () => carry("text", field.value !== example() ? field.value : null);

  // ---- the model

  function choose(which) {
    const own = isOwn();
    [on, picked] = [which, true];
    if (!own) field.value = example();
    for (const one of ["small", "real"]) at(one).setAttribute("aria-pressed", String(one === which));
    at("models").hidden = which === "small" && at("real-load").hidden === false;
    at("until").hidden = at("real-load").hidden;
    keep(CHOSEN, which === "real" ? told.real.manifest.name : null);
    carry("model", which === "real" ? told.real.manifest.name : null);
    again();
  }
  const loader = told.real
    ? realLoad(`${name}-real`, {
        ...{ manifest: told.real.manifest, base: new URL(told.real.root, location.href).href, what: told.real.what },
        given: { most, watched, machine: told.real.machine },
        send: (message) => open().send(message),
        ready: () => choose("real"),
      })
    : null;
  if (loader) {
    for (const which of ["small", "real"]) at(which).addEventListener("click", () => choose(which));
    const wanted = (linked("model") ?? kept(CHOSEN)) === told.real.manifest.name;
    loader.kept.then((whole) => whole && wanted && loader.load());
  }

  field.value = linked("text") ?? (kept(KEPT) || field.value);
  field.addEventListener("input", keepText);
  field.addEventListener("focus", come);
  back.addEventListener("click", () => {
    field.value = example();
    keepText();
    field.focus();
  });
  if (document.readyState === "complete") again();
  else addEventListener("load", again); // what the page itself loads comes first
  return again;
}
