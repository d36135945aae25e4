// A picture as PNG and as SVG, drawn from what stands on the page.

import { el, svg } from "../common.js";
import { dataAddress } from "./page.js";

const SCALE = 2;
const FRAME_MARGIN = 16; // pixels around a picture
const HEADLINE = { font: "600 18px system-ui, sans-serif", line: 26 };
// What asks for a hand, which a picture has not.
const DEAD = ".player, p.hint, .told:has(> .muted:only-child)";
// What XML cannot hold, wherever a learner's text brings it along.
const UNFIT = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

export function written(node) {
  return new XMLSerializer().serializeToString(node).replace(UNFIT, "\uFFFD");
}

// While `work` runs, canvases are drawn for a screen of twice the size.
export async function sharper(redraw, work) {
  const own = Object.getOwnPropertyDescriptor(window, "devicePixelRatio");
  Object.defineProperty(window, "devicePixelRatio", { configurable: true, get: () => SCALE });
  try {
    redraw();
    await frames();
    return await work();
  } finally {
    if (own) Object.defineProperty(window, "devicePixelRatio", own);
    else delete window.devicePixelRatio;
    redraw();
  }
}

// Two frames; a window that is not seen draws none, so that it is not waited for.
function frames() {
  const two = new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return Promise.race([two, new Promise((resolve) => setTimeout(resolve, 200))]);
}

// ---- PNG

// A part of the page as it stands, with its style, as an image that is never put into a file itself.
export async function photo(node, style, ground, title) {
  const frame = el("div");
  const sheet = el("style");
  sheet.textContent = `${await fontFaces()}\n${style}`;
  const copy = still(node);
  const { width, height } = sizeOf(copy, node);
  frame.append(sheet, copy);
  frame.setAttribute("style", themeOf(node));
  const outer = svg("svg", {
    width: width * SCALE,
    height: height * SCALE,
    viewBox: `0 0 ${width} ${height}`,
  });
  const inner = svg("foreignObject", { width: "100%", height: "100%" });
  inner.append(frame);
  outer.append(inner);
  return painted(written(outer), { width, height, ground, title, ink: getComputedStyle(node).color });
}

// The copy without what a hand would need, in its place for a moment.
function sizeOf(copy, node) {
  for (const part of copy.querySelectorAll(DEAD)) part.remove();
  const { width } = node.getBoundingClientRect();
  copy.style.cssText += `;position:fixed;left:0;top:0;visibility:hidden;width:${width}px`;
  node.after(copy);
  const { height } = copy.getBoundingClientRect();
  copy.remove();
  for (const name of ["position", "left", "top", "visibility"]) copy.style.removeProperty(name);
  return { width, height };
}

// A drawing with its title above it and a margin around both. under: pictures below the drawing's lines.
export async function painted(text, { width, height, ground, title, ink, under = [] }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  pen.font = HEADLINE.font;
  const lines = wrapped(pen, title, width);
  const top = FRAME_MARGIN + (lines.length ? lines.length * HEADLINE.line + FRAME_MARGIN / 2 : 0);
  canvas.width = Math.round((width + 2 * FRAME_MARGIN) * SCALE);
  canvas.height = Math.round((top + height + FRAME_MARGIN) * SCALE);
  pen.fillStyle = ground;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.scale(SCALE, SCALE);
  pen.font = HEADLINE.font;
  pen.fillStyle = ink;
  pen.textBaseline = "middle";
  lines.forEach((line, i) => void pen.fillText(line, FRAME_MARGIN, FRAME_MARGIN + (i + 0.5) * HEADLINE.line));
  for (const [layer, x, y, w, h] of under) pen.drawImage(layer, FRAME_MARGIN + x, top + y, w, h);
  pen.drawImage(image, FRAME_MARGIN, top, width, height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large for this browser"))), "image/png"),
  );
}

// A text in lines that fit a width.
function wrapped(pen, text, width) {
  const lines = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && pen.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// A copy of a node that looks alike without scripts: what canvases hold, where lists are scrolled to.
function still(node) {
  const copy = node.cloneNode(true);
  const [from, to] = [node, copy].map((one) => [one, ...one.querySelectorAll("*")]);
  from.forEach((original, i) => {
    const twin = to[i];
    if (original instanceof HTMLCanvasElement && original.width && original.height) {
      twin.style.background = `url(${original.toDataURL()}) 0 0 / 100% 100% no-repeat`;
    } else if (original instanceof HTMLInputElement) twin.setAttribute("value", original.value);
    if (original.scrollLeft || original.scrollTop) {
      twin.style.overflow = "hidden";
      for (const child of twin.children) child.style.translate = `${-original.scrollLeft}px ${-original.scrollTop}px`;
    }
  });
  for (const one of copy.querySelectorAll("[autofocus], script, foreignObject")) one.remove();
  return copy;
}

// The page's variables and text that a component takes from around it.
function themeOf(node) {
  const style = getComputedStyle(node);
  const names = ["--st-background-color", "--st-font", "--st-code-font", "--st-primary-color"];
  return `${names.map((name) => `${name}:${style.getPropertyValue(name)};`).join("")}text-align:${style.textAlign};`;
}

let faces = null;

// The fonts of the page, as data: an image may fetch nothing.
function fontFaces() {
  faces ??= Promise.all(loadedFaces().map(withData)).then((rules) => rules.join("\n"));
  return faces;
}

function loadedFaces() {
  const loaded = new Set([...document.fonts].filter((font) => font.status === "loaded").map((font) => font.family.replaceAll('"', "")));
  const rules = [...document.styleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules];
    } catch {
      return []; // of another host, which this app has none of
    }
  });
  const isLoaded = (rule) => rule instanceof CSSFontFaceRule && loaded.has(rule.style.getPropertyValue("font-family").replaceAll('"', ""));
  return rules.filter((rule) => isLoaded(rule) && rule.style.getPropertyValue("font-style") !== "italic");
}

async function withData(rule) {
  const address = /url\("?([^")]+)"?\)/.exec(rule.style.getPropertyValue("src"))?.[1];
  const answer = address && (await fetch(new URL(address, rule.parentStyleSheet.href ?? document.baseURI)).catch(() => null));
  if (!answer?.ok) return "";
  const { family, weight } = { family: rule.style.getPropertyValue("font-family"), weight: rule.style.getPropertyValue("font-weight") };
  return `@font-face{font-family:${family};font-weight:${weight || "normal"};src:url(${await dataAddress(await answer.blob())});}`;
}

// ---- SVG

// What of a shape's style is written into it.
const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin"]
  .concat(["opacity", "visibility", "display", "font-family", "font-size", "font-weight", "font-style", "letter-spacing"])
  .concat(["text-anchor", "dominant-baseline", "paint-order", "color"]);
const LIVE = "script, foreignObject, animate, set, a, use[href^='http'], image[href^='http']";

// Drawings of the page in their places, as one that needs nothing else. root: of a picture, whose words
// around them are drawn, too.
export function drawing(drawings, ground, root = null) {
  const parts = root ? [...root.querySelectorAll("*")].filter(isWritten) : [];
  const box = around([...drawings, ...parts]);
  const whole = svg("svg", {
    width: box.width,
    height: box.height,
    viewBox: `0 0 ${box.width} ${box.height}`,
  });
  whole.append(svg("rect", { width: "100%", height: "100%", fill: ground }));
  for (const part of parts) whole.append(...drawnPart(part, box));
  for (const one of drawings) {
    const at = one.getBoundingClientRect();
    const copy = dressed(one);
    for (const [name, value] of Object.entries({ x: at.left - box.left, y: at.top - box.top, width: at.width, height: at.height }))
      copy.setAttribute(name, value);
    copy.removeAttribute("style");
    copy.setAttribute("overflow", "visible");
    whole.append(copy);
  }
  return { text: written(whole), width: box.width, height: box.height };
}

// Whether a part of a picture is a box or a text that is seen, and not in a drawing.
function isWritten(node) {
  if (node.closest(`svg, .card, style, ${DEAD}`) || node.getBoundingClientRect().width < 2) return false;
  return node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
}

function drawnPart(node, box) {
  const style = getComputedStyle(node);
  const at = node.getBoundingClientRect();
  const [, frame, thick] = /^(.*\)) 0px 0px 0px (\d+)px inset$/.exec(style.boxShadow) ?? ["", style.borderTopColor, style.borderTopWidth];
  const stroke = Number.parseFloat(thick);
  const [fill, line, ink] = [style.backgroundColor, frame, style.color].map(asRgba);
  const looks = { fill, stroke: stroke ? line : "none", "stroke-width": stroke, rx: Number.parseFloat(style.borderRadius) || 0 };
  const size = { width: Math.max(0, at.width - stroke), height: Math.max(0, at.height - stroke) };
  const frames =
    stroke || fill !== asRgba("transparent")
      ? [svg("rect", { x: at.left - box.left + stroke / 2, y: at.top - box.top + stroke / 2, ...size, ...looks })]
      : [];
  const font = ["fontStyle", "fontWeight", "fontSize", "fontFamily"].map((name) => style[name]).join(" ");
  const texts = [...node.childNodes].filter((child) => child instanceof Text).flatMap(linesOf);
  return [
    ...frames,
    ...texts.map(([text, x, y]) =>
      svg("text", { x: x - box.left, y: y - box.top + baseline(font), fill: ink, style: `font:${font};white-space:pre` }, text),
    ),
  ];
}

// The lines of a text with their places on the screen; y: of their middle.
function linesOf(node) {
  const range = document.createRange();
  const lines = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const { left, top, height, width } = range.getBoundingClientRect();
    const y = top + height / 2;
    if (width && lines.at(-1)?.[2] === y) lines.at(-1)[0] += ` ${word}`;
    else if (width) lines.push([word, left, y]);
  }
  return lines;
}

const scratch = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

// How far below its middle a line stands.
function baseline(font) {
  scratch.font = font;
  const { fontBoundingBoxAscent, fontBoundingBoxDescent } = scratch.measureText("x");
  return (fontBoundingBoxAscent - fontBoundingBoxDescent) / 2;
}

// A colour as every program reads it.
function asRgba(color) {
  scratch.clearRect(0, 0, 1, 1);
  scratch.fillStyle = color;
  scratch.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = scratch.getImageData(0, 0, 1, 1).data;
  return `rgba(${r},${g},${b},${(a / 255).toFixed(3)})`;
}

export function around(nodes) {
  const boxes = nodes.map((one) => one.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((one) => one.left)), Math.min(...boxes.map((one) => one.top))];
  const [right, bottom] = [Math.max(...boxes.map((one) => one.right)), Math.max(...boxes.map((one) => one.bottom))];
  return { left, top, bottom, width: right - left, height: bottom - top };
}

function dressed(node) {
  const copy = node.cloneNode(true);
  const twins = [copy, ...copy.querySelectorAll("*")];
  [node, ...node.querySelectorAll("*")].forEach((original, i) => {
    const style = getComputedStyle(original);
    const twin = twins[i];
    for (const { name } of [...twin.attributes])
      if (/^on|^(xlink:)?href$|^tabindex$|^class$/i.test(name) && !isOwn(twin, name)) twin.removeAttribute(name);
    const inGroup = original.tagName === "g" || original.tagName === "svg";
    const names = inGroup ? ["opacity", "display", "visibility"] : LOOKS;
    twin.setAttribute("style", names.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    if (original.style?.clipPath) twin.style.clipPath = original.style.clipPath;
  });
  for (const one of copy.querySelectorAll(LIVE)) one.remove();
  return copy;
}

// A reference to a part of the same drawing, or to data, stays.
function isOwn(node, name) {
  return /href$/.test(name) && /^(#|data:image\/)/.test(node.getAttribute(name));
}
