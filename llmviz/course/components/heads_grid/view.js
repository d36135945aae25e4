// Every head of every layer as a thumbnail of its attention; click chooses one.

import { css, el, fit, follow, live, mix, onLeave, rgb, spotOf } from "../_shared/common.js";
import { ARROWS } from "../_shared/keys.js";
import { HeadLines } from "../_shared/head_lines.js";
import { worded } from "../_shared/worded.js";

export default function (component) {
  return live(component, (root, send) => new HeadsGrid(root, send));
}

const EDGE = { left: 62, top: 20, gap: 5 };
const DEEP = 12; // with more layers than these all of them are seen at once, smaller

class HeadsGrid {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.frame = el("div", "frame");
    this.canvas = el("canvas", "heads");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.spot = el("span", "spot");
    this.kept = el("span", "spot kept");
    this.frame.append(this.canvas, this.kept, this.spot);
    this.large = el("canvas", "large", null, { "aria-hidden": "true" });
    this.stage = el("div", "stage");
    this.side = el("div", "side");
    this.told = el("div", "told", null, { "aria-live": "polite" });
    this.side.append(this.told, this.large, this.scale());
    this.stage.append(this.frame, this.side);
    root.append(this.stage);
    this.chosen = null;
    this.canvas.addEventListener("pointermove", (e) => this.point(this.hit(e)));
    onLeave(this.canvas, () => this.point(null));
    this.canvas.addEventListener("blur", () => this.point(null));
    this.canvas.addEventListener("click", (e) => this.choose(this.hit(e)));
    this.canvas.addEventListener("keydown", (e) => this.keys(e));
  }

  scale() {
    const line = el("div", "scale num");
    line.append(el("span", null, "0"), el("span", "ramp"), el("span", null, "1"), el("span", null, worded("weight")));
    return line;
  }

  update(data, width) {
    this.data = data;
    [this.layers, this.heads, this.queries, this.keysCount] = data.shape;
    this.chosen = follow(this, "chosen", data.chosen, this.chosen);
    if (this.chosen && (this.chosen[0] >= this.layers || this.chosen[1] >= this.heads)) this.chosen = null;
    this.canvas.setAttribute(
      "aria-label",
      worded("attention of {layers} layers with {heads} heads; arrow keys move, Enter chooses", { layers: this.layers, heads: this.heads }),
    );
    this.layout(width);
  }

  layout(width) {
    this.width = width;
    this.beside = width >= 860 ? 340 : 0; // room for the head that is looked at
    const room = (width - EDGE.left - this.beside - 24) / this.heads;
    const deep = this.layers > DEEP;
    const tall = deep ? Math.max(15, Math.floor(450 / this.layers)) : Math.max(40, Math.floor(720 / this.layers));
    this.step = Math.max(deep ? 15 : 22, Math.min(92, Math.floor(room), tall));
    this.tileSide = this.step - (deep ? 2 : EDGE.gap);
    this.large.hidden = !this.beside;
    this.stage.classList.toggle("narrow", !this.beside);
    this.draw();
    this.point(null);
    this.follow();
  }

  nameOf(l, h) {
    return worded("{one}, {other}", { one: this.data.rowNames[l], other: this.data.columnNames[h] });
  }

  // The chosen head as lines between its tokens, where the page wants them.
  follow() {
    if (!this.data.lines) return;
    this.lines ??= new HeadLines(this.root);
    const [l, h] = this.chosen ?? [0, 0];
    const { queries, keysCount } = this;
    const { cells, triangle, tokens, keyTokens } = this.data;
    const size = triangle ? (queries * (queries + 1)) / 2 : queries * keysCount;
    const from = (l * this.heads + h) * size;
    const cell = (q, k) => {
      if (!triangle) return cells[from + q * keysCount + k];
      return k > q ? 0 : cells[from + (q * (q + 1)) / 2 + k];
    };
    this.lines.show({ tokens, keyTokens, title: this.nameOf(l, h), cells: cell }, this.width);
  }

  draw() {
    const { layers, heads, queries, keysCount, step, tileSide: side } = this;
    const pen = fit(this.canvas, EDGE.left + heads * step, EDGE.top + layers * step);
    this.tile = document.createElement("canvas");
    this.tile.width = keysCount;
    this.tile.height = queries;
    this.ink = this.tile.getContext("2d");
    this.image = this.ink.createImageData(keysCount, queries);
    this.palette = this.colors();
    // Enlarged cells stay squares; shrunk ones are averaged, so that a thin line does not vanish.
    pen.imageSmoothingEnabled = side < queries;
    pen.imageSmoothingQuality = "high";
    for (let l = 0; l < layers; l++) {
      for (let h = 0; h < heads; h++) {
        this.fillTile(l, h);
        const [x, y] = this.corner(l, h);
        pen.drawImage(this.tile, x, y, side, side);
        if (this.isCovered([l, h])) this.cover(pen, x, y, side);
      }
    }
    this.labels(pen);
  }

  isCovered(at) {
    return Boolean(at) && this.data.covered?.join() === at.join();
  }

  cover(pen, x, y, side) {
    pen.fillStyle = css(this.root, "--lv-hair");
    pen.fillRect(x, y, side, side);
    pen.fillStyle = css(this.root, "--lv-ink");
    pen.font = `600 ${Math.min(40, Math.round(side * 0.5))}px ${css(this.root, "--st-font") || "sans-serif"}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText("?", x + side / 2, y + side / 2);
  }

  // One head, a pixel a cell, on the small canvas from which all sizes are drawn.
  fillTile(l, h) {
    const { queries, keysCount, palette } = this;
    const { cells, triangle } = this.data;
    const pixels = new Uint32Array(this.image.data.buffer);
    const size = triangle ? (queries * (queries + 1)) / 2 : queries * keysCount;
    let from = (l * this.heads + h) * size;
    for (let q = 0; q < queries; q++) {
      const reach = triangle ? q + 1 : keysCount;
      for (let k = 0; k < keysCount; k++) pixels[q * keysCount + k] = k < reach ? palette[cells[from++]] : palette[0];
    }
    this.ink.putImageData(this.image, 0, 0);
  }

  // The head looked at, large, with its tokens where they can be read.
  enlarge(at) {
    if (!this.beside || !at) return;
    const { queries, keysCount, tokens, keyTokens } = { ...this, ...this.data };
    const side = this.beside - 96;
    const pen = fit(this.large, this.beside, side + 78);
    const [x, y] = [84, 76];
    this.fillTile(...at);
    pen.imageSmoothingEnabled = side < queries;
    pen.drawImage(this.tile, x, y, side, side);
    if (this.isCovered(at)) this.cover(pen, x, y, side);
    pen.font = `11px ${css(this.root, "--st-font") || "sans-serif"}`;
    pen.fillStyle = css(this.root, "--lv-muted");
    pen.textBaseline = "middle";
    const every = (count) => Math.max(1, Math.ceil((11 * count) / side));
    const cut = (text) => ([...text].length > 11 ? `${[...text].slice(0, 10).join("")}…` : text);
    pen.textAlign = "right";
    const rows = every(queries);
    tokens.forEach((text, q) => q % rows || pen.fillText(cut(text), x - 6, y + ((q + 0.5) * side) / queries));
    const cols = every(keysCount);
    keyTokens.forEach((text, k) => {
      if (k % cols) return;
      pen.save();
      pen.translate(x + ((k + 0.5) * side) / keysCount, y - 5);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "left";
      pen.fillText(cut(text), 0, 0);
      pen.restore();
    });
  }

  // 256 colours from paper to violet; the root brings small weights up to where one sees them.
  colors() {
    const paper = rgb(css(this.root, "--lv-raised"));
    const full = rgb(css(this.root, "--lv-weights"));
    return Uint32Array.from({ length: 256 }, (_, v) => {
      const [r, g, b] = mix(paper, full, Math.sqrt(v / 255));
      return (255 << 24) | (b << 16) | (g << 8) | r;
    });
  }

  labels(pen) {
    const font = css(this.root, "--st-font") || "sans-serif";
    pen.font = `11.5px ${font}`;
    pen.fillStyle = css(this.root, "--lv-muted");
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    this.data.rowNames.forEach((name, l) => pen.fillText(name, EDGE.left - 9, EDGE.top + l * this.step + this.tileSide / 2));
    pen.textAlign = "center";
    const short = this.step < 44;
    this.data.columnNames.forEach((name, h) => {
      pen.fillText(short ? name.replace(/^\D+/, "") || name : name, EDGE.left + h * this.step + this.tileSide / 2, 9);
    });
  }

  corner(l, h) {
    return [EDGE.left + h * this.step, EDGE.top + l * this.step];
  }

  hit(event) {
    const [x, y] = spotOf(event, this.canvas);
    const h = Math.floor((x - EDGE.left) / this.step);
    const l = Math.floor((y - EDGE.top) / this.step);
    return l >= 0 && h >= 0 && l < this.layers && h < this.heads ? [l, h] : null;
  }

  place(mark, at) {
    mark.hidden = !at;
    if (!at) return;
    const [x, y] = this.corner(...at);
    mark.style.transform = `translate(${x - 3}px, ${y - 3}px)`;
    mark.style.width = mark.style.height = `${this.tileSide + 6}px`;
  }

  point(at) {
    this.at = at;
    this.place(this.spot, at);
    this.place(this.kept, this.chosen);
    const told = at ?? this.chosen;
    this.enlarge(told ?? [0, 0]);
    if (!told) {
      this.told.textContent = worded("Point at a head; click to look inside it.");
      return;
    }
    const [l, h] = told;
    const name = el("b", null, this.nameOf(l, h));
    const note = this.data.notes?.[l][h];
    this.told.replaceChildren(name, el("span", "muted", note ? ` · ${note}` : ""));
  }

  choose(at) {
    if (!at || this.isCovered(at)) return;
    const again = this.chosen?.join() === at.join(); // it stays, and a guess hears of it
    this.chosen = at;
    this.point(at);
    this.follow();
    this.send("chosen", again ? null : at);
  }

  keys(event) {
    const [l, h] = this.at ?? this.chosen ?? [0, 0];
    const way = ARROWS[event.key];
    if (way) {
      const clamp = (n, top) => Math.max(0, Math.min(top - 1, n));
      this.point(this.at || this.chosen ? [clamp(l + way[0], this.layers), clamp(h + way[1], this.heads)] : [0, 0]);
    } else if (event.key === "Enter" || event.key === " ") this.choose(this.at ?? this.chosen ?? [0, 0]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
