// The files of a model, one after the other: from what this browser has kept, else from the host. Each is
// checked against its length and its checksum before anything is computed with it, so a loading that
// ends in the middle goes on with the files that are still missing.

import { fixed } from "../../components/_shared/numbers.js";
import { say } from "./said.js";

const STORE = "llmviz models";
const CALLED = {
  403: "A file of the model, {name}, may not be read from the host.",
  404: "A file of the model, {name}, is missing on the host.",
};
const ANSWERED = "A file of the model, {name}, was answered with {status}.";
const MEGA = 1e6;

export const mega = (bytes) => `${fixed(bytes / MEGA, bytes < 10 * MEGA ? 1 : 0)} MB`;

// What went wrong, as a line for a visitor.
export class Unloaded extends Error {}

// The files of a model's list: its weights in their order, then the tokenizer.
const filesOf = ({ shards, tokenizer }) => [...shards, tokenizer];
export const sizeOf = (manifest) => filesOf(manifest).reduce((sum, { bytes }) => sum + bytes, 0);

// Cache Storage by the names of files, which hold their checksums: pages of other folders share it. It
// is null where a browser has none, as for an address of http alone.
async function store() {
  try {
    return (await globalThis.caches?.open(STORE)) ?? null;
  } catch {
    return null;
  }
}
const keyOfFile = (base, { path }) => new URL(`/llmviz-models/${path.split("/").at(-1)}`, base).href;

// How many bytes of a model this browser has kept.
export async function keptOf(manifest, base) {
  const kept = await store();
  const found = await Promise.all(filesOf(manifest).map((file) => kept?.match(keyOfFile(base, file))));
  return filesOf(manifest).reduce((sum, { bytes }, i) => sum + (found[i] ? bytes : 0), 0);
}

export const forgetModels = () => globalThis.caches?.delete(STORE);

// Loads what is missing. base: the address of the site's folder. tell: is given the bytes that are there.
// into: the bytes that the weights fill. have: what an earlier call brought, by paths; it is filled.
// signal: ends the loading. Returns the tokenizer, and whether this browser keeps all of it.
// Throws Unloaded.
export async function loadedFiles(manifest, { base, tell, into, have, signal }) {
  const place = await store();
  let done = 0;
  for (const file of filesOf(manifest)) {
    if (!have.has(file.path)) {
      const key = keyOfFile(base, file);
      let content = await keptFile(place, key, file);
      if (!content) {
        // What is kept here is not kept a second time, and what was wrong is not given again.
        const how = { signal, cache: place ? "no-store" : "no-cache" };
        content = await fetched(file, base, (bytes) => tell(done + bytes), how);
        await keepFile(place, key, content);
      }
      if (file !== manifest.tokenizer) into.set(content, done);
      have.set(file.path, file === manifest.tokenizer ? JSON.parse(new TextDecoder().decode(content)) : true);
    }
    tell((done += file.bytes));
  }
  return { tokenizer: have.get(manifest.tokenizer.path), keeps: (await keptOf(manifest, base)) === done };
}

async function keptFile(place, key, file) {
  const answer = await place?.match(key).catch(() => null);
  if (!answer) return null;
  const content = new Uint8Array(await answer.arrayBuffer());
  if (!(await wrongOf(content, file))) return content;
  await place.delete(key); // it was cut off, or is no longer what it was
  return null;
}

// Where the browser has no room for it, or may keep nothing, it stays in memory alone.
async function keepFile(place, key, content) {
  try {
    await place?.put(key, new Response(content));
  } catch {}
}

async function fetched(file, base, tell, how) {
  const name = file.path.split("/").at(-1);
  const content = new Uint8Array(file.bytes);
  let at = 0;
  try {
    const answer = await fetch(new URL(file.path, base), how);
    if (!answer.ok) throw new Unloaded(say(CALLED[answer.status] ?? ANSWERED, { name, status: answer.status }));
    const reader = answer.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (at + part.value.length > content.length)
        throw new Unloaded(say("{name} is longer than it should be: it is another file.", { name }));
      content.set(part.value, at);
      tell((at += part.value.length));
    }
  } catch (error) {
    if (error instanceof Unloaded || how.signal.aborted) throw error;
    throw new Unloaded(say("The network was lost. What has come is not lost."));
  }
  const wrong = await wrongOf(content.subarray(0, at), file);
  if (wrong) throw new Unloaded(say(wrong, { name, some: mega(at), all: mega(file.bytes) }));
  return content;
}

// What is wrong with a file; "" if nothing is. Only a safe address (https, or this machine) has checksums:
// elsewhere the length must do.
async function wrongOf(content, { bytes, sha256 }) {
  if (content.length !== bytes) return "{name} was cut off after {some} of {all}.";
  const digest = await globalThis.crypto.subtle?.digest("SHA-256", content);
  if (!digest) return "";
  const found = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return found === sha256 ? "" : "{name} is another file than this page was written with.";
}
