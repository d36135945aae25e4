// What somebody points at on a page, as data that finds it on another screen, and the light on it.

import { el, zoomOf } from "./common.js";

const TEXTS = ".lv-prose p, .lv-opening p, h1, h2, h3, [data-testid=stCaptionContainer] p, [data-testid=stRadio] label";
const CHART = "[data-testid=stPlotlyChart]";
const LONG = 120; // letters of a text, by which it is found again
const SPOT = 26; // pixels across
const LARGE = [240, 120]; // pixels: in what is larger a spot is lit, not all of it

const wordsOf = (node) => node.textContent.trim().slice(0, LONG);
const isDrawn = (node) => node?.checkVisibility?.() && node.getBoundingClientRect().width > 0;

function texts() {
  const main = document.querySelector("[data-testid=stMain]");
  return main ? [...main.querySelectorAll(TEXTS)].filter(isDrawn) : [];
}

function plotOf(chart) {
  return chart.querySelector(".nsewdrag") ?? chart;
}

// Where an event is in a node, as shares of its width and height.
function shares(event, node) {
  const box = node.getBoundingClientRect();
  const share = (at, size) => Math.round(1000 * Math.max(0, Math.min(1, at / (size || 1)))) / 1000;
  return [share(event.clientX - box.left, box.width), share(event.clientY - box.top, box.height)];
}

// A picture's element by its way down from the picture, a chart by its number, a text by its words; or null.
export function pointedAt(event) {
  const path = event.composedPath().filter((node) => node instanceof Element);
  for (const [root, { key }] of globalThis.llmvizPictures) {
    const depth = path.indexOf(root);
    if (depth < 0) continue;
    const way = path.slice(0, depth + 1).reverse();
    const down = way.slice(1).map((node, i) => [...way[i].children].indexOf(node));
    return { key, down, tag: path[0].tagName, at: shares(event, path[0]) };
  }
  const chart = path.find((node) => node.matches(CHART));
  if (chart) return { chart: [...document.querySelectorAll(CHART)].indexOf(chart), at: shares(event, plotOf(chart)) };
  const known = texts();
  const text = path.find((node) => known.includes(node));
  if (!text) return null;
  const words = wordsOf(text);
  return { text: words, among: known.filter((one) => wordsOf(one) === words).indexOf(text) };
}

// The element of this page that is meant, and the spot in it where all of it would be too much; or null.
function whereIs({ key, down = [], tag, at, chart, text, among }) {
  if (chart !== undefined) {
    const found = document.querySelectorAll(CHART)[chart];
    return found ? { node: plotOf(found), at } : null;
  }
  if (text !== undefined) {
    const same = texts().filter((one) => wordsOf(one) === text);
    return same.length ? { node: same[among] ?? same[0] } : null;
  }
  const root = [...globalThis.llmvizPictures].find(([, entry]) => entry.key === key)?.[0];
  if (!root) return null;
  const node = down.reduce((above, i) => above?.children[i], root);
  if (!isDrawn(node) || node.tagName !== tag) return { node: root };
  const { width, height } = node.getBoundingClientRect();
  return { node, at: tag.toLowerCase() === "canvas" || width > LARGE[0] || height > LARGE[1] ? at : null };
}

// The light on this page. It goes where its element goes.
export class Light {
  constructor(root) {
    this.node = el("div", "pointed", null, { popover: "manual", "aria-hidden": "true" });
    root.append(this.node);
    this.target = null;
    this.again = () => this.place();
    document.addEventListener("scroll", this.again, true);
    window.addEventListener("resize", this.again);
  }

  // Light what is pointed at, or nothing. reach: scroll to it where it is out of sight.
  show(target, reach = false) {
    const fresh = JSON.stringify(target) !== JSON.stringify(this.target);
    this.target = target;
    if (reach && fresh && target) whereIs(target)?.node.scrollIntoView({ block: "nearest" });
    this.place();
  }

  place() {
    const found = this.target && whereIs(this.target);
    if (!found || !isDrawn(found.node)) {
      if (this.node.matches(":popover-open")) this.node.hidePopover();
      return;
    }
    if (!this.node.matches(":popover-open")) this.node.showPopover();
    const { left, top, width, height } = found.node.getBoundingClientRect();
    const spot = found.at;
    this.node.classList.toggle("spot", Boolean(spot));
    const [x, y] = spot ? [left + spot[0] * width, top + spot[1] * height] : [left, top];
    const box = spot ? [x - SPOT / 2, y - SPOT / 2, SPOT, SPOT] : [x, y, width, height];
    const zoom = zoomOf(this.node);
    for (const [i, name] of ["left", "top", "width", "height"].entries()) this.node.style[name] = `${box[i] / zoom}px`;
  }

  destroy() {
    document.removeEventListener("scroll", this.again, true);
    window.removeEventListener("resize", this.again);
  }
}
