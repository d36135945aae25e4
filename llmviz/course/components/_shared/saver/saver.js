// One quiet menu for every picture of the page, by which it can leave: as an image, as numbers, alive.

import { css, el, isDark, svg } from "../common.js";
import { reachSoon } from "../reach.js";
import { worded } from "../worded.js";
import { Chart } from "./charts.js";
import { alone, frameLine, keepIfWanted, wanted } from "./embed.js";
import { savedPage, styleOf } from "./page.js";
import { Picture } from "./pictures.js";
import { fileName, linkOf, wordsAround } from "./places.js";
import { Sheet } from "./sheet.js";
import { summary } from "./summary.js";
import { csv } from "./tables.js";

const TITLE = "Save this picture, or read its numbers";
const FORMS = [
  ["sheet", "Numbers (table)", "to read here"],
  ["png", "Image (PNG)", "twice the size"],
  ["svg", "Drawing (SVG)", "sharp at every size"],
  ["csv", "Numbers (CSV)", "for a spreadsheet"],
  ["html", "Page (HTML)", "alive, needs no network"],
  ["frame", "Line for a page of yours", "copies an <iframe>"],
];
const KINDS = { svg: "image/svg+xml", csv: "text/csv;charset=utf-8", html: "text/html;charset=utf-8" };
const GIVEN = "Your browser was given {name} ({size} KB).";
const FAILED = "This did not work: {problem}.";
const COPIED = "The line is on your clipboard.";
const REFUSED = " This server lets no page but its own show it. Who runs it can name yours: LLMVIZ_FRAMES, in docs/CLASS.md.";
const BY_HAND = "Your browser lets no page copy. The line is selected: copy it yourself.";
const ICON = "M8 2v8 M4.5 6.8 8 10.3l3.5-3.5 M3 13h10";
// What a component does beside the pictures is no picture.
const OTHERS = [
  "browser_secret",
  "class_watch",
  "course_path",
  "curve_data",
  "draw_pad",
  "finder",
  "progress",
  "projector",
  "table_choice",
  "test_keeper",
  "text_guard",
].map((name) => `llmviz_${name}`);
const CHART = "[data-testid=stPlotlyChart]";
const HOST = "[data-testid=stElementContainer]";
const KEY = /(?:^|\s)st-key-(\S+)/; // the class that says an element's key

// Made once, by a component that stands on every page (see finder), which tells it of each update.
export class Saver {
  constructor(root) {
    this.root = root;
    this.buttons = new Map(); // by the node of the picture
    this.pictures = globalThis.llmvizPictures;
    this.menu = new Menu(this);
    this.due = 0;
    this.observer = new MutationObserver(() => this.soon());
    this.observer.observe(document.body, { childList: true, subtree: true });
    globalThis.llmvizSaver = this;
    alone();
  }

  update() {
    this.sheet ??= new CSSStyleSheet();
    this.sheet.replaceSync(styleOf(this.root));
    this.layout();
    this.soon();
  }

  layout() {
    const dark = isDark(this.root);
    for (const { box } of [...this.buttons.values(), this.menu]) box.classList.toggle("dark", dark);
  }

  // Called by every component that draws, and by each change of the page: looked at once a frame.
  soon() {
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      this.look();
    });
  }

  look() {
    if (!this.sheet) return;
    reachSoon();
    const found = new Map();
    for (const [root, entry] of this.pictures)
      if (entry.data && !OTHERS.includes(entry.component.name)) found.set(root, () => new Picture(entry, this.pictures));
    for (const node of document.querySelectorAll(CHART)) {
      const graph = node.querySelector(".js-plotly-plot");
      if (graph?._fullData)
        found.set(node, () => new Chart(node, graph, KEY.exec(node.closest("[class*=st-key-]")?.className)?.[1] ?? "chart"));
    }
    for (const [node, button] of this.buttons) {
      if (found.has(node) && button.host.isConnected) continue;
      button.leave();
      this.buttons.delete(node);
    }
    for (const [node, make] of found) {
      if (wanted) keepIfWanted(make().key, hostOf(node));
      else if (!this.buttons.has(node)) this.buttons.set(node, this.button(node, make));
    }
  }

  button(node, make) {
    const [host, box] = this.shadow();
    box.classList.toggle("inside", node.matches(CHART)); // its frame would scroll to what hangs below it
    host.dataset.picture = make().key;
    host.style.cssText = "position:relative;height:0;width:100%";
    const press = el("button", "save", null, {
      type: "button",
      "aria-label": worded(TITLE),
      title: worded(TITLE),
      "aria-haspopup": "menu",
    });
    const icon = svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" });
    icon.append(svg("path", { d: ICON, fill: "none", stroke: "currentColor", "stroke-width": 1.5 }));
    press.append(icon);
    press.onclick = () => this.menu.open(make(), press);
    // Only who comes by with the keyboard or a screen reader hears it: it is computed then.
    press.addEventListener("focus", () => press.setAttribute("aria-description", said(make())));
    box.append(press);
    const near = hostOf(node);
    // Not on entering: the pointer may be there already when a chart is made anew.
    const life = new AbortController();
    near.addEventListener("pointermove", () => box.classList.add("near"), life);
    near.addEventListener("pointerleave", () => box.classList.remove("near"), life);
    node.after(host);
    const leave = () => {
      life.abort();
      host.remove();
    };
    return { host, box, leave };
  }

  // A box with the style of the components, which neither takes from the page nor gives to it.
  shadow() {
    const host = el("div");
    const shadow = host.attachShadow({ mode: "open" });
    shadow.adoptedStyleSheets = [this.sheet];
    const box = el("div", "lv saver");
    box.classList.toggle("dark", isDark(this.root));
    shadow.append(box);
    return [host, box];
  }

  destroy() {
    this.observer.disconnect();
    cancelAnimationFrame(this.due);
    for (const { leave } of this.buttons.values()) leave();
    this.menu.host?.remove();
    if (globalThis.llmvizSaver === this) globalThis.llmvizSaver = null;
  }
}

// Whether a frame of another page would stay empty; a file that is opened has no server to ask.
async function refusesFrames() {
  const answer = await fetch(document.baseURI, { method: "HEAD" }).catch(() => null);
  return /frame-ancestors 'none'/.test(answer?.headers.get("Content-Security-Policy"));
}

function hostOf(node) {
  const root = node.getRootNode();
  return (root instanceof ShadowRoot ? root.host : node).closest(HOST) ?? node;
}

function groundOf() {
  return getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor;
}

class Menu {
  constructor(saver) {
    this.saver = saver;
    this.box = el("div");
  }

  build() {
    [this.host, this.box] = this.saver.shadow();
    this.list = el("div", "menu", null, { role: "menu", "aria-label": worded(TITLE), popover: "auto" });
    this.items = FORMS.map(([form, name, note]) => {
      const item = el("button", "item", null, { type: "button", role: "menuitem", "data-form": form });
      item.append(el("span", null, worded(name)), el("span", "muted", worded(note)));
      item.onclick = () => this.take(form);
      return item;
    });
    this.told = el("p", "told", null, { role: "status" });
    this.line = el("textarea", "line num", null, { readonly: "", rows: 4, "aria-label": "iframe" });
    this.list.append(...this.items, this.told, this.line);
    this.list.addEventListener("keydown", (event) => this.keys(event));
    this.list.addEventListener("toggle", (event) => event.newState === "closed" && this.press.setAttribute("aria-expanded", "false"));
    this.box.append(this.list);
    this.sheet = new Sheet(this.box);
    document.body.append(this.host);
  }

  open(picture, press) {
    if (!this.host?.isConnected) this.build();
    Object.assign(this, { picture, press });
    this.told.textContent = "";
    this.line.hidden = true;
    this.items.find(({ dataset }) => dataset.form === "svg").hidden = !picture.flat;
    // The window's own colours and fonts, for a box that lies outside of the page's.
    for (const name of ["--st-font", "--st-code-font"]) this.box.style.setProperty(name, css(this.saver.root, name));
    this.box.style.setProperty("--st-background-color", groundOf());
    this.list.showPopover();
    press.setAttribute("aria-expanded", "true");
    const at = press.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.list;
    this.list.style.left = `${Math.max(8, Math.min(at.right - offsetWidth, window.innerWidth - offsetWidth - 8))}px`;
    this.list.style.top = `${Math.max(8, Math.min(at.bottom + 4, window.innerHeight - offsetHeight - 8))}px`;
    this.items[0].focus();
  }

  keys(event) {
    const items = this.items.filter((item) => !item.hidden);
    const at = items.indexOf(this.list.getRootNode().activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    items.at(to % items.length).focus();
    event.preventDefault();
  }

  async take(form) {
    const { picture } = this;
    if (form === "sheet") {
      this.list.hidePopover();
      return this.sheet.open(picture.tables(), this.press);
    }
    this.told.textContent = "…";
    try {
      if (form === "frame") return await this.copy(picture);
      const name = fileName(picture.key, form);
      const file = await made(form, picture, groundOf());
      give(file, name);
      this.told.textContent = worded(GIVEN, {
        name,
        size: Math.ceil(file.size / 1000).toLocaleString(document.documentElement.lang || "en"),
      });
    } catch (problem) {
      this.told.textContent = worded(FAILED, { problem: problem.message });
    }
  }

  async copy(picture) {
    const { height } = hostOf(picture.node).getBoundingClientRect();
    const line = frameLine(linkOf({ show: "1", embed: picture.key }), wordsAround(hostOf(picture.node)).heading, height + 16);
    this.line.value = line;
    this.line.hidden = false;
    try {
      await navigator.clipboard.writeText(line);
      this.told.textContent = worded(COPIED);
    } catch {
      this.line.select();
      this.told.textContent = worded(BY_HAND);
    }
    if (await refusesFrames()) this.told.textContent += worded(REFUSED);
  }
}

// What a picture's numbers say; its page works without.
function said(picture) {
  try {
    return summary(picture.tables());
  } catch (problem) {
    return worded(FAILED, { problem: problem.message });
  }
}

async function made(form, picture, ground) {
  if (form === "png") return picture.png(ground, wordsAround(hostOf(picture.node)).heading);
  const text = {
    svg: () => picture.svg(ground),
    csv: () => csv(picture.tables()),
    html: async () => savedPage(wordsAround(hostOf(picture.node)), await picture.page(isDark(globalThis.llmvizSaver.root))),
  }[form];
  return new Blob([await text()], { type: KINDS[form] });
}

function give(file, name) {
  const link = el("a", null, null, { href: URL.createObjectURL(file), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
