// The pieces of the machine's picture: sentences with live numbers, token names, tiles, panels.

import { css, el, rgb, svg } from "../_shared/common.js";
import { percent } from "../_shared/numbers.js";
import { worded } from "../_shared/worded.js";

// "{token} is token {id}" with its values put in; tokens and numbers keep their own face.
export function fill(node, template, values) {
  node.replaceChildren(
    ...template.split(/(\{\w+\})/).map((piece) => {
      const name = piece.startsWith("{") ? piece.slice(1, -1) : null;
      if (name === null || !(name in values)) return document.createTextNode(piece);
      const value = values[name];
      return value?.token !== undefined ? el("code", "tok", value.token) : el("b", "num", String(value));
    }),
  );
}

// A share in the machine: none that is there is written as 0.
export function shareText(p) {
  return p > 0 && p < 0.0005 ? "<0.1 %" : percent(p);
}

// All numbers of some vectors, a cell each, from the negative colour over paper to the positive: a tile
// of so many columns and lines for each vector, one below the other.
export function paintTiles(values, size, columns, lines, limit, { zero, negative, positive }) {
  const tiles = document.createElement("canvas");
  const count = values.length / size;
  tiles.width = columns;
  tiles.height = lines * count;
  const pen = tiles.getContext("2d");
  const image = pen.createImageData(columns, lines * count);
  for (let row = 0, i = 0; row < count; row++) {
    for (let at = 4 * row * lines * columns, end = i + size; i < end; i++) {
      const t = Math.max(-1, Math.min(1, values[i] / limit));
      const to = t < 0 ? negative : positive;
      for (let c = 0; c < 3; c++) image.data[at++] = zero[c] + (to[c] - zero[c]) * Math.abs(t);
      image.data[at++] = 255;
    }
  }
  pen.putImageData(image, 0, 0);
  return tiles;
}

// Draw the tile of one of the vectors into a box.
export function drawTile(pen, { painted, lines }, row, ...box) {
  pen.drawImage(painted, 0, row * lines, painted.width, lines, ...box);
}

export function tileColors(root) {
  return {
    zero: rgb(css(root, "--lv-tile") || css(root, "--lv-surface")),
    negative: rgb(css(root, "--lv-residual-neg")),
    positive: rgb(css(root, "--lv-query") && css(root, "--lv-neutral-pos")),
  };
}

// From the key's colour through the weights' violet to the query's: a curve shows which token is
// asked and which one asks.
export function makeGradient(id) {
  const gradient = svg("linearGradient", { id, gradientUnits: "userSpaceOnUse", y1: 0, y2: 0 });
  for (const [offset, name] of [
    [0, "key"],
    [0.22, "weights"],
    [0.78, "weights"],
    [1, "query"],
  ]) {
    const stop = svg("stop", { offset });
    stop.style.stopColor = `var(--lv-${name})`;
    gradient.appendChild(stop);
  }
  return gradient;
}

// A stage's name above its column; a link where it leads to a chapter.
export function makeTitle(text, chapter, words, go) {
  const node = el("div", "title");
  const name = el(chapter ? "a" : "span", "name", text);
  if (chapter) {
    name.href = chapter;
    name.title = words.open;
    name.appendChild(el("span", "away", " ↗", { "aria-hidden": "true" }));
    name.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(chapter);
    };
  }
  node.sub = el("span", "sub num");
  node.append(name, node.sub);
  return node;
}

const MOST_ROUND = 8;

// One small button for each head of a layer: round, or a strip where there are many.
export function makePips(heads, label, choose) {
  const box = el("div", heads > MOST_ROUND ? "pips strip" : "pips", null, { role: "radiogroup", "aria-label": label });
  box.pips = Array.from({ length: heads }, (_, h) => {
    const pip = el("button", "pip num", String(h), {
      type: "button",
      role: "radio",
      "aria-label": worded("{name}: {text}", { name: label, text: h }),
    });
    pip.onclick = () => choose(h);
    box.appendChild(pip);
    return pip;
  });
  return box;
}
