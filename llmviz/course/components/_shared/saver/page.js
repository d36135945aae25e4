// The picture as one file that opens anywhere: its script and its data, with the words around it.
// The file is made from page.html here in the browser; the server has nothing to compute.

import { partAddress } from "../common.js";

const SCRIPTS = "<!--scripts-->";
const DATA = "/*saved*/";

export async function savedPage(words, content) {
  const template = await textAt("saved/page.html");
  const scripts = content.scripts.map((source, i) => `<script type="module">\n${asInline(source, i)}\n</script>`);
  const saved = JSON.stringify({ ...words, pictures: [], parts: {}, ...content.saved });
  // A function, because a text to put in may hold "$&".
  return template.replace(DATA, () => saved.replaceAll("<", "\\u003c")).replace(SCRIPTS, () => scripts.join("\n"));
}

// What a component's module exports is left in a list instead, where the page's last script finds it.
function asInline(source, i) {
  return source.replace(/^export default function/m, `globalThis.llmvizViews[${i}] = function`).replace(/^\/\/# sourceURL.*$/m, "");
}

export async function textAt(path) {
  const answer = await fetch(partAddress(`/${path}`));
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.text();
}

// What a saved page needs of components: their scripts, messages, large parts and what the hand set.
export async function piecesOf(entries) {
  const parts = {};
  for (const { data } of entries) for (const address of data.$parts ?? []) parts[address] ??= await base64(await bytesAt(address));
  const scripts = await Promise.all(entries.map(async ({ source }) => (await fetch(source)).text()));
  const pictures = await Promise.all(
    entries.map(async (entry) => ({
      name: entry.component.name,
      key: entry.key,
      css: styleOf(entry.root),
      message: await base64(entry.raw),
      lasting: { ...entry.view.lasting, remembered: [...entry.view.lasting.remembered] },
    })),
  );
  return { scripts, saved: { pictures, parts } };
}

async function bytesAt(address) {
  const answer = await fetch(partAddress(address), { cache: "force-cache" });
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

export function styleOf(root) {
  return [...root.getRootNode().querySelectorAll("style")].map((style) => style.textContent).join("\n");
}

async function base64(bytes) {
  const address = await dataAddress(new Blob([bytes]));
  return address.slice(address.indexOf(",") + 1);
}

export function dataAddress(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

export async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return base64(new Uint8Array(await new Response(stream).arrayBuffer()));
}
