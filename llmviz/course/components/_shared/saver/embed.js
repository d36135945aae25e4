// `?embed=PICTURE`: that picture alone, in the frame of another page.

import { el } from "../common.js";

const NONE = "There is no picture of this name here.";
const WAIT = 20_000; // milliseconds until a picture that does not come is said not to be there
// Streamlit's own values of this part of the address.
const asked = new URLSearchParams(location.search).get("embed");
export const wanted = asked && !["true", "false"].includes(asked) ? asked : null;

const STYLE = `
  html[data-llmviz-alone] body { overflow: hidden; }
  html[data-llmviz-alone] body :not([data-llmviz-picture], [data-llmviz-picture] *, .llmviz-none) { visibility: hidden !important; }
  [data-llmviz-picture] {
    visibility: visible; position: fixed; inset: 0 0 auto 0; width: 100vw; max-width: none; padding: 8px;
    box-sizing: border-box; max-height: 100vh; overflow: auto; z-index: 1000000; }
  .llmviz-none { position: fixed; inset: 0; padding: 1rem; }`;

let kept = null;
const observer = new ResizeObserver(() => tell());

// The height goes to the page around, whichever that is: it is no secret.
function tell() {
  const height = Math.ceil([...kept.children].reduce((sum, child) => Math.max(sum, child.getBoundingClientRect().bottom), 0)) + 8;
  window.parent.postMessage({ llmviz: "height", picture: wanted, height }, "*");
}

export function alone() {
  if (!wanted || document.documentElement.dataset.llmvizAlone !== undefined) return;
  document.documentElement.dataset.llmvizAlone = "";
  document.head.append(el("style", null, STYLE));
  setTimeout(() => {
    if (!kept?.isConnected) document.body.append(el("p", "llmviz-none", NONE));
  }, WAIT);
}

export function keepIfWanted(key, host) {
  if (key !== wanted) return;
  if (kept && kept !== host) {
    observer.unobserve(kept);
    delete kept.dataset.llmvizPicture;
  }
  kept = host;
  document.querySelector(".llmviz-none")?.remove();
  host.dataset.llmvizPicture = "";
  observer.observe(host);
}

// The line that shows a picture in a page: its height is the present one.
export function frameLine(link, title, height) {
  const known = { src: link, title, width: "100%", height: Math.ceil(height), style: "border:0", loading: "lazy" };
  const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  const said = Object.entries(known).map(([name, value]) => `${name}="${plain(value)}"`);
  return `<iframe ${said.join(" ")}></iframe>`;
}
