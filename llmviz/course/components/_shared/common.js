// Shared by every component: decoding the message, living across reruns, drawing helpers.
// Text reaches the page by textContent, attributes or fillText only.

import { unpack } from "./message.js";
import { hear, worded } from "./worded.js";

const SVG = "http://www.w3.org/2000/svg";

// Large parts that a message only names (see stored.py), by their address: each is fetched once.
const PARTS_KEPT = 8;
const PART_TRIES = 6;
const PART_LOST = "The numbers of this picture could not be loaded. Please reload the page.";
const storedParts = (globalThis.llmvizParts ??= new Map());

// Give `take` the whole payload of a message: at once, or when its parts have come.
function withParts(message, take, fail) {
  const data = unpack(message);
  const wanted = data.$parts ?? [];
  const join = (parts) => take(Object.assign({}, ...parts, data));
  const known = wanted.map(knownPart);
  if (known.every(Boolean)) join(known);
  else Promise.all(wanted.map(fetchPart)).then(join, fail);
}

function knownPart(address) {
  let part = storedParts.get(address);
  if (part) {
    if (part instanceof Uint8Array) part = unpack(part); // a saved page brings its parts along
    storedParts.delete(address); // to the end: the longest unused one goes first
    storedParts.set(address, part);
  }
  return part;
}

// Where a part lies: the app may lie behind a path of its own, as its scripts do.
export function partAddress(address) {
  const script = document.querySelector('script[type="module"][src*="static/js/"]');
  return new URL(`../..${address}`, script?.src ?? new URL("static/js/", document.baseURI));
}

async function fetchPart(address) {
  const url = partAddress(address);
  for (let tries = 1; !knownPart(address); tries++) {
    const answer = await fetch(url, { cache: "force-cache" }).catch(() => null); // no connection
    if (answer?.ok) {
      const part = unpack(new Uint8Array(await answer.arrayBuffer()));
      if (storedParts.size >= PARTS_KEPT) storedParts.delete(storedParts.keys().next().value);
      storedParts.set(address, part);
      return part;
    }
    if (tries === PART_TRIES) throw new Error(`${url} cannot be fetched`);
    await new Promise((resolve) => setTimeout(resolve, 200 * tries));
  }
  return knownPart(address);
}

// The end of a message: the component's key, and which starts of its state are new (see wire.py).
function readEnding(message) {
  const end = message.length - 4;
  const length = new DataView(message.buffer, message.byteOffset + end, 4).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(message.subarray(end - length, end)));
}

const views = new WeakMap();
const cards = new WeakMap(); // by the root of a component
// By the component's key: what its view was last told and reported, and what it remembers by itself.
// One that left the page and comes back, or is made anew in another place, goes on from there.
const lasting = (globalThis.llmvizLasting ??= new Map());
const memories = new WeakMap(); // what a view remembers, by its root
// All that stands on the page, by its root: from here a picture leaves it (see components/_shared/saver).
const pictures = (globalThis.llmvizPictures ??= new Map());

// Streamlit calls a component again for every rerun: the view is made once and then only
// updated, so that its step, scroll and hover survive.
export function live(component, create) {
  const parent = component.parentElement;
  let entry = views.get(parent);
  if (!entry) {
    const root = el("div", "lv");
    parent.appendChild(root);
    entry = { root, data: null, raw: null, width: 0, source: import.meta.url };
    views.set(parent, entry);
    const { key, words } = readEnding(component.data);
    hear(words);
    entry.key = key;
    pictures.set(root, entry);
    const last = lasting.get(key) ?? { told: {}, reported: {}, remembered: new Map() };
    lasting.set(key, last);
    memories.set(root, last.remembered);
    entry.send = (name, value) => {
      last.reported[name] = value;
      entry.component.setStateValue(name, value);
    };
    entry.component = component;
    const send = (name, value) => entry.send(name, value);
    entry.view = create(root, send);
    entry.view.send = send; // `follow` says with it what the page has set
    entry.view.lasting = last;
    entry.view.started = new Set();
    entry.observer = new ResizeObserver(() => {
      const width = Math.floor(root.clientWidth);
      if (width && width !== entry.width && entry.data) {
        entry.width = width;
        entry.view.layout?.(width);
        cards.get(root)?.follow();
      }
    });
    entry.observer.observe(root);
  }
  entry.component = component;
  const dark = isDark(entry.root);
  const turned = dark !== entry.dark;
  entry.dark = dark;
  entry.root.classList.toggle("dark", dark);
  if (!sameBytes(entry.raw, component.data)) {
    const message = (entry.raw = component.data);
    const take = (data) => {
      if (entry.raw !== message) return; // a newer one came while parts were fetched
      entry.root.style.visibility = "";
      entry.lost?.remove();
      entry.data = data;
      const { turns, words } = readEnding(message);
      hear(words);
      entry.view.turns = turns;
      entry.width = Math.floor(entry.root.clientWidth) || 700;
      // A view that draws in turns returns a promise of its picture.
      Promise.resolve(entry.view.update(entry.data, entry.width)).then(() => drawnIn(parent));
      cards.get(entry.root)?.follow();
      globalThis.llmvizSaver?.soon();
    };
    if (!entry.data) entry.root.style.visibility = "hidden"; // nothing to point at yet
    withParts(message, take, () => {
      if (entry.raw !== message) return;
      entry.raw = null; // so that the next rerun tries again
      entry.lost?.remove();
      parent.append((entry.lost = el("p", "lv", worded(PART_LOST))));
    });
  } else if (turned && entry.data) {
    entry.view.layout?.(entry.width);
    cards.get(entry.root)?.follow();
  }
  return () => {
    entry.raw = undefined; // nothing that still comes is for this view
    entry.observer.disconnect();
    entry.view.destroy?.();
    entry.root.remove();
    entry.lost?.remove();
    pictures.delete(entry.root);
    globalThis.llmvizSaver?.soon();
    views.delete(parent);
  };
}

// The page's element says that its picture is there: until then the page leaves room for it.
function drawnIn(node) {
  const around = node.getRootNode();
  const host = (around instanceof ShadowRoot ? around.host : node).closest("[data-testid=stElementContainer]");
  if (host) host.dataset.drawn = "";
}

// Where the page wants something else than before, the view follows and says so, so that both
// sides agree; otherwise the hand's own choice stays. Returns the value to use.
export function follow(view, name, wanted, own) {
  const { told, reported } = view.lasting;
  const now = JSON.stringify([wanted, view.turns[name]]);
  const before = told[name];
  const first = !view.started.has(name); // this view is new and has no choice of its own yet
  told[name] = now;
  view.started.add(name);
  if (now === before) return !first ? own : name in reported ? reported[name] : wanted;
  delete reported[name];
  if (!first && JSON.stringify(wanted) !== JSON.stringify(own)) view.send(name, wanted);
  return wanted;
}

// Values that the hand told the page and the page has not repeated yet. A late answer to one of them
// must not take back what the hand has set since.
export class Told {
  values = [];

  say(value) {
    this.values.push(value);
  }

  // Where the page is, or will be once it has heard all.
  last(page) {
    return this.values.at(-1) ?? page;
  }

  // Whether the page went to a value by itself; before: where it was.
  moved(value, before) {
    const answer = this.values.lastIndexOf(value);
    const moved = answer < 0 && value !== before;
    this.values.splice(0, moved ? this.values.length : answer + 1);
    return moved;
  }
}

// What the hand set and Python is not told, such as a zoom: it lasts until the page is loaded anew, and
// holds for what it was set on (`of`). The node is one that stands in its view.
export function remember(node, name, value, of = "") {
  memories.get(node.closest(".lv")).set(name, { value, of });
}

// What was remembered, or null.
export function remembered(node, name, of = "") {
  const known = memories.get(node.closest(".lv")).get(name);
  return known?.of === of ? known.value : null;
}

function sameBytes(a, b) {
  if (a === b) return true;
  if (!a || !b || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

export function isDark(node) {
  const [r, g, b] = rgb(css(node, "--st-background-color"));
  return 0.3 * r + 0.59 * g + 0.11 * b < 128;
}

export function css(node, name) {
  return getComputedStyle(node).getPropertyValue(name).trim();
}

// A reader of a node's colours and fonts that asks for each once: what one drawing needs.
export function styles(node) {
  const known = {};
  return (name) => (known[name] ??= css(node, name));
}

export function rgb(color) {
  if (color.startsWith("#")) {
    const hex = color.length < 7 ? [...color.slice(1, 4)].map((c) => c + c).join("") : color.slice(1);
    return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
  }
  return (color.match(/[\d.]+/g) || [255, 255, 255]).slice(0, 3).map(Number);
}

// A colour between two; t runs from 0 to 1.
export function mix(from, to, t) {
  const k = Math.max(0, Math.min(1, t));
  return from.map((c, i) => Math.round(c + (to[i] - c) * k));
}

export function rgbText(c) {
  return `rgb(${c[0]},${c[1]},${c[2]})`;
}

// The dark and the bright ink for texts on colours, and black; `style` reads a colour.
export function inks(style) {
  return [style("--lv-on-accent"), style("--lv-bright"), style("--lv-black")];
}

// The ink that reads on a colour, with a contrast of at least 4.5: one of the two, or black on what
// is too bright for the one and too dark for the other. The luminance is that of WCAG 2.
export function inkOn(c, [dark, bright, black]) {
  const [r, g, b] = c.map((part) => (part > 10 ? ((part / 255 + 0.055) / 1.055) ** 2.4 : part / 3295));
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  if (luminance > 0.26) return dark;
  return luminance < 0.18 ? bright : black;
}

export function el(tag, className, text, attributes) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined && text !== null) node.textContent = text;
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  return node;
}

// Marks what the learner guessed, where something else is right, and says what the mark means.
export function markGhost(root, node) {
  root.querySelector(".ghost-key")?.remove();
  if (!node) return;
  node.classList.add("ghost-cell");
  root.append(el("p", "ghost-key", worded("your guess")));
}

// A sentence whose {gaps} are filled by name.
export function sentence(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export function svg(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  if (text !== undefined) node.textContent = text;
  return node;
}

// The screen's pixels in one of a node's own.
export function ratioOf(node) {
  return (window.devicePixelRatio || 1) * zoomOf(node);
}

// Size a canvas in CSS pixels at the screen's own resolution. To read this makes the browser style the page
// anew: who fits many canvases reads it once.
export function fit(canvas, width, height, ratio = ratioOf(canvas)) {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

// Whether a word in the fixed-width face of the strips has room in so many pixels.
export function wordFits(word, room) {
  return [...word].length * 7.4 + 3 <= room;
}

// By how much the page around a node enlarges it (see components/projector): boxes on the screen and the
// pointer's place have the screen's pixels, styles and canvases have the node's own.
export function zoomOf(node) {
  return node.currentCSSZoom ?? 1;
}

// Where an event is inside a node, in the node's pixels.
export function spotOf(event, node) {
  const box = node.getBoundingClientRect();
  const zoom = zoomOf(node);
  return [(event.clientX - box.left) / zoom, (event.clientY - box.top) / zoom];
}

// A small card beside what is pointed at; it never leaves the component's width. `live` lets it
// follow where the view is drawn anew.
export function makeCard(root) {
  const card = el("div", "card", null, { role: "status", "aria-live": "polite" });
  card.hidden = true;
  root.appendChild(card);
  let anchor = null;
  const place = () => {
    card.style.left = "0px"; // where it stood before must not narrow it
    const box = root.getBoundingClientRect();
    const at = anchor.getBoundingClientRect();
    const zoom = zoomOf(root);
    // The browser itself keeps to this when the width changes: the page never becomes wider by it.
    card.style.left = `clamp(0px, ${(at.left - box.left) / zoom}px, calc(100% - ${card.offsetWidth}px))`;
    card.style.top = `${(at.bottom - box.top) / zoom + 6}px`;
  };
  const handle = {
    node: card,
    show(node, title, pairs) {
      anchor = node;
      card.replaceChildren(el("div", "card-title", title));
      const list = el("dl");
      for (const [name, value] of pairs) {
        list.appendChild(el("dt", null, name));
        list.appendChild(el("dd", null, value));
      }
      card.appendChild(list);
      card.hidden = false;
      place();
    },
    hide() {
      card.hidden = true;
    },
    // Go to where the anchor is now. One that was removed never says that the pointer left it.
    follow() {
      if (!card.hidden && anchor.isConnected) place();
      else card.hidden = true;
    },
  };
  cards.set(root, handle);
  return handle;
}

// Whether the learner asked for less motion: then nothing moves by itself.
export function isCalm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// Call `done` where the pointer leaves a node that the keys do not hold: a page that scrolls to what
// they reach moves below a resting pointer, and that is no hand that looks elsewhere.
export function onLeave(node, done) {
  node.addEventListener("pointerleave", () => node.matches(":focus-visible, :has(:focus-visible)") || done());
}

// Call at most once per frame, with the last arguments.
export function eachFrame(work) {
  let args = null;
  return (...given) => {
    if (args === null) {
      requestAnimationFrame(() => {
        const last = args;
        args = null;
        work(...last);
      });
    }
    args = given;
  };
}

export function later(work, wait) {
  let timer = 0;
  const run = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), wait);
  };
  run.cancel = () => clearTimeout(timer);
  return run;
}
