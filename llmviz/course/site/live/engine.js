// What computes behind a live page, in a worker: one of the course's small models, or a real one. Both
// answer by the same names:
//   model      forward pass, rows of its matrix, logits: see model.js; null where a page only cuts texts
//   reader     a Reader of it
//   tokenizer  encode, decode, bytes; special: ids that no text has; nameOf: how a token is shown
//   start      ids in front of each text; ends: ids behind one
//   most       tokens that are read; cuts: whether of a longer text the last ones are, else it is refused
//   machine    what the picture of the whole machine says of it

import { whole } from "../../components/_shared/numbers.js";
import { ByteLevel } from "./byte_level.js";
import { Reader, smallModel, TURN } from "./loaded.js";
import { forgetModels, loadedFiles, Unloaded } from "./real_files.js";
import { RealModel } from "./real_model.js";
import { say } from "./said.js";

const SPARE = 16; // tokens that are kept behind the longest text

// What a visitor is told instead of an answer.
export class Refused extends Error {}

// Throws at a question that waits where another one came meanwhile.
class Overtaken extends Error {}

// The ids of a text as a model reads them. more: tokens for which there is to be room behind it.
// Throws Refused: it has none, or too many for a model that reads no end of a text alone.
export function idsOf({ tokenizer, start, most, cuts }, text, more = 0) {
  const ids = [...start, ...tokenizer.encode(text)];
  const count = whole(ids.length);
  if (!ids.length) throw new Refused(say("Type something: the model goes on from what stands there."));
  if (cuts) return ids.slice(-most + more);
  if (ids.length > most)
    throw new Refused(say("This text has {count} tokens. This page reads {most} at most: shorten it.", { count, most }));
  return ids;
}

// questions: by their names, what a page asks: functions of a model as above, what is given, and of
// `paced`, which reads ids with it until another question comes, `pause`, which hears between two steps of
// something long whether one came, and `tell`, for parts of an answer.
// tell: is given what the page hears. Returns what hears the page: `small` (a packed model), `load` (the
// list of a real one, the site's address, how many tokens of a text it reads, for how many there is room,
// whether they are watched, and options of RealModel), `stop` ends a loading, `forget`, and `question`, with
// a number and the model that answers it.
export function engine(questions, tell) {
  const have = new Map(); // files that came before a loading ended
  const models = {};
  let ending = null;
  let last = 0; // the number of the newest question

  async function load({ manifest, base, most, room = most + SPARE, watched, machine, options }) {
    ending = new AbortController();
    const { signal } = ending;
    try {
      const begun = manifest.shards.length ? (models.begun ??= new RealModel(manifest, options)) : null;
      const into = begun?.memory.bytes;
      const files = await loadedFiles(manifest, { base, into, have, signal, tell: (bytes) => tell({ bytes }) });
      const tokenizer = new ByteLevel(files.tokenizer);
      const reader = begun && (models.real?.reader ?? new Reader(begun, { most: room, watched }));
      const nameOf = (id) => tokenizer.nameOf(id);
      const { ends } = tokenizer;
      models.real = { model: begun, reader, tokenizer, nameOf, start: [], ends, most, cuts: false, machine };
      tell({ ready: true, keeps: files.keeps });
    } catch (error) {
      if (signal.aborted) tell({ unloaded: "" });
      else if (error instanceof RangeError) tell({ unloaded: say("This device has too little memory for the model.") });
      else if (error instanceof Unloaded) tell({ unloaded: error.message });
      else throw error;
    }
  }

  async function answer({ question, on, given, number }) {
    last = number;
    const model = models[on];
    const told = (part) => tell({ number, part });
    const paced = async (ids) => {
      const logits = await model.reader.paced(ids, () => last === number, told);
      if (!logits) throw new Overtaken();
      return logits;
    };
    let turn = performance.now();
    const pause = async () => {
      if (performance.now() - turn < TURN) return;
      turn = performance.now();
      await new Promise((done) => setTimeout(done));
      if (last !== number) throw new Overtaken();
    };
    try {
      tell({ number, value: await questions[question](model, given, { paced, pause, tell: told }) });
    } catch (error) {
      if (error instanceof Refused) tell({ number, refused: error.message });
      else if (error instanceof Overtaken) tell({ number, overtaken: true });
      else throw error;
    }
  }

  return async (message) => {
    if (message.small) models.small = smallModel(message.small);
    if (message.load) await load(message.load);
    if (message.stop) ending?.abort();
    if (message.forget) await forgetModels();
    if (message.question) await answer(message);
  };
}

// Run as a worker.
export function serving(questions, scope) {
  const hear = engine(questions, (report) => scope.postMessage(report));
  scope.onmessage = ({ data }) => hear(data).catch((error) => scope.postMessage({ stopped: error.message }));
}
