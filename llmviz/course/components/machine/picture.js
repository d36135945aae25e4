// Where the pieces stand, what is bright, and what is said, for one view of the trace.

import { fit, ratioOf, svg } from "../_shared/common.js";
import { number, whole } from "../_shared/numbers.js";
import { MachinePieces } from "./build.js";
import { drawTile, fill, shareText } from "./parts.js";
import { SIZES, bend, lens, makePlan, ribbon } from "./plan.js";

const FAINT = 0.002; // a weight whose curve would be thinner than a fiftieth of a pixel
const LETTER = 7.7; // pixels of a letter in the list of next tokens

// A text with so many letters at most; what is left out is there under the pointer.
function cut(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

export class MachinePicture extends MachinePieces {
  place() {
    const ratio = ratioOf(this.root);
    for (const _ of this.placing());
    this.fan();
    this.paint(ratio);
  }

  // Yields between two layers.
  *placing() {
    const { data } = this;
    const p = (this.plan = makePlan(data, this.width, this.open));
    const put = (node, x, y, width) => {
      node.style.left = `${x}px`;
      node.style.top = `${y}px`;
      if (width !== undefined) node.style.width = `${width}px`;
    };
    const set = (node, attributes) => {
      for (const name in attributes) node.setAttribute(name, attributes[name]);
    };
    this.stage.style.width = `${p.width}px`;
    this.stage.style.height = `${p.height}px`;
    this.side.style.width = `${p.chip}px`;
    this.side.style.height = `${p.height}px`;
    set(this.svg, { width: p.width, height: p.height, viewBox: `0 0 ${p.width} ${p.height}` });
    this.chips.forEach((chip, r) => (chip.style.top = `${p.y(r)}px`));
    this.earlier.style.top = `${p.y(-1)}px`;
    this.idTexts.forEach((text, r) => set(text, { x: p.ids, y: p.y(r) + 4 }));
    put(this.idsTitle, p.chip + 2, 0, SIZES.id + 13);
    this.stage.style.setProperty("--chip", `${p.chip}px`);
    if (!data.values) {
      this.dots.forEach((line, r) => set(line, { x1: p.ids + 14, x2: p.width - 8, y1: p.y(r), y2: p.y(r) }));
      return put(this.wait, p.ids + 14, (p.top + p.bottom) / 2 - 16, p.width - p.ids - 22);
    }
    put(this.vectorTitle, p.vectorX, 0, p.vector + 8);
    put(this.tiles[0], p.vectorX, 0);
    const thick = (column, row) => Math.max(0.5, 3 * Math.sqrt(this.tiles[column].lengths[row] / this.longest));
    const strand = (path, x0, x1, column, row) => {
      set(path, { d: `M${x0} ${p.y(row)}H${x1}`, "stroke-width": thick(column, row) });
    };
    const rows = data.rows.map((_, r) => r);
    for (const r of rows) strand(this.entering[r], p.ids + 7, p.layers[0].from, 0, r);
    for (const [l, at] of p.layers.entries()) {
      this.placeLayer(at, l, put, set, strand);
      yield;
    }
    const last = p.layers.at(-1);
    for (const r of rows) strand(this.leaving[r], last.tile + last.width, p.fan, this.layers, r);
    this.scales.forEach((text, c) => {
      const at = p.layers[c - 1] ?? { tile: p.vectorX, width: p.vector, shown: 1 };
      set(text, { x: at.tile + at.width / 2, y: p.foot, opacity: at.shown });
    });
    this.stage.classList.toggle("tight", p.tight);
    this.stage.classList.toggle("thin", p.strips);
    put(this.scoresTitle, p.bars - 64, 0, 58);
    put(this.nextTitle, p.bars, 0, p.barWidth + 40);
    this.entries.forEach((entry, k) => {
      const y = p.entryY(k);
      set(entry.score, { x: p.bars - 10, y: y + 4 });
      set(entry.rail, { x: p.bars, y: y - 9, width: p.barWidth, height: 18 });
      set(entry.bar, { x: p.bars, y: y - 9, height: 18 });
      set(entry.text, { x: p.bars + 7, y: y + 4 });
      set(entry.share, { x: p.shares, y: y + 4 });
      set(entry.mark, { cx: p.bars + p.barWidth - 7, cy: y });
    });
    this.ghost.style.top = `${p.loop}px`;
    put(this.actions, p.chip + 26, p.loop);
  }

  placeLayer(at, l, put, set, strand) {
    const { plan: p, data } = this;
    const { values } = data;
    const parts = this.layerTitles[l];
    const wide = this.open[l] > 0.5;
    set(this.panels[l], { x: at.x, y: 1, width: at.end - at.x, height: p.bottom + SIZES.foot - 3 });
    const strip = p.strips && !wide;
    if (strip) put(parts.node, (at.x + at.end) / 2 - 12, 0, 24);
    else put(parts.node, at.x, 0, at.end - at.x);
    put(parts.opener, at.x, 0, at.end - at.x);
    parts.opener.style.height = `${SIZES.head - 6}px`;
    parts.opener.hidden = wide || p.strips;
    parts.node.classList.toggle("wide", wide);
    parts.node.classList.toggle("folded", p.folds && !wide);
    // Of many thin strips some are numbered, and none beside the open one, whose name is wide.
    const numbered = !strip || (l % p.every === 0 && (l || !p.tight) && Math.abs(l - this.view.layer) * (at.end - at.x) > 14);
    const folded = numbered ? String(l) : "";
    const name = p.folds && !wide ? folded : data.words.titles.layer.replace("{layer}", l);
    parts.node.firstChild.firstChild.textContent = name;
    set(parts.gradient, { x1: at.from, x2: at.to });
    for (const { path, q, k } of parts.curves) path?.setAttribute("d", this.curve(l, q, k));
    parts.strands.forEach((path, r) => strand(path, at.from, at.join, l, r));
    parts.after.forEach((path, r) => strand(path, at.join, this.plan.layers[l + 1]?.from ?? at.end, l + 1, r));
    const missing = at.shown && !parts.lenses.length;
    if (missing) parts.networkNote = this.buildNetwork(parts);
    const added = values.mlp.subarray(l * p.rows, (l + 1) * p.rows);
    const most = Math.max(...added);
    parts.lenses.forEach((path, r) => set(path, { d: lens(at.lens, p.y(r), added[r] / most), opacity: at.shown }));
    if (parts.networkNote) set(parts.networkNote, { x: at.lens, y: p.foot, opacity: at.shown });
    put(this.tiles[l + 1], at.tile, 0);
    const closed = !parts.pips;
    if (closed && !this.open[l]) return;
    if (closed) this.buildInside(l, parts);
    if (closed || missing) this.styleLayer(parts, l);
    parts.beside.hidden = !p.strips || !wide;
    for (const { dot, role, row } of parts.ports) {
      set(dot, { cx: { key: at.from, value: at.from - 7, query: at.to + 2 }[role], cy: p.y(row) });
      dot.style.opacity = this.open[l] ** 2;
    }
    set(parts.note, { x: (at.from + at.to) / 2, y: p.foot, opacity: this.open[l] });
  }

  curve(l, q, k) {
    const { plan: p } = this;
    return bend(p.layers[l].from, p.y(k), p.layers[l].to, p.y(q));
  }

  get chosen() {
    return this.view.row < 0 ? this.data.rows.length - 1 : this.view.row;
  }

  get focus() {
    return this.hover?.row ?? this.chosen;
  }

  weight(l, q, k) {
    const { weights, earlier } = this.data.values;
    const rows = this.data.rows.length;
    const at = (l * this.heads + this.view.heads[l]) * rows + q;
    return k < 0 ? earlier[at] : weights[at * rows + k];
  }

  // While it plays, one token's way is bright, and the others wait.
  get pointed() {
    return this.hover?.row !== undefined || this.player.playing;
  }

  // ratio: read before anything is changed, as to read it styles the whole page (see `ratioOf`).
  style(ratio = ratioOf(this.root)) {
    if (this.drawing) return; // it is done when all is there
    const { data, focus, pointed, view } = this;
    this.stage.classList.toggle("pointed", pointed);
    this.chips.forEach((chip, r) => {
      chip.classList.toggle("on", r === focus);
      chip.setAttribute("aria-pressed", String(r === this.chosen && view.row >= 0));
    });
    this.idTexts.forEach((text, r) => text.classList.toggle("on", r === focus));
    const step = this.player.step < 0 || !data.values ? this.last : this.player.step;
    const whole = step >= this.last;
    if (this.narrow) this.way.style(step, whole, ratio);
    if (!data.values) return;
    for (const node of [this.actions, this.ghost]) node.classList.toggle("ahead", !whole);
    this.narrate(step, whole);
    if (this.narrow) return;
    this.groups.forEach((group, s) => {
      group.classList.toggle("ahead", s > step);
      group.classList.toggle("past", !whole && s < step);
    });
    const tileStage = (c) => 2 + 2 * c;
    this.tiles.forEach((canvas, c) => {
      canvas.classList.toggle("ahead", tileStage(c) > step);
      canvas.classList.toggle("past", !whole && tileStage(c) < step);
    });
    const layerAt = (l) => !whole && (step === 3 + 2 * l || step === 4 + 2 * l);
    this.panels.forEach((panel, l) => {
      panel.classList.toggle("now", layerAt(l));
      panel.classList.toggle("wide", l === view.layer);
    });
    this.titles.forEach((node) => {
      const l = this.layerTitles.findIndex((parts) => parts.node === node);
      node.classList.toggle("now", l >= 0 ? layerAt(l) : !whole && node.stage === step);
      node.classList.toggle("ahead", node.stage > step);
    });
    const lines = [this.entering, this.leaving, ...this.layerTitles.flatMap((parts) => [parts.strands, parts.after])];
    for (const line of lines) line.forEach((path, r) => path.classList.toggle("on", r === focus));
    this.layerTitles.forEach((parts, l) => this.styleLayer(parts, l));
    this.paint(ratio);
    this.fan();
  }

  styleLayer(parts, l) {
    const { data, focus, hover, pointed, view } = this;
    const rows = data.rows.length;
    const head = view.heads[l];
    parts.pips?.pips.forEach((pip, h) => {
      pip.classList.toggle("on", h === head);
      pip.setAttribute("aria-checked", String(h === head));
    });
    parts.node.sub.textContent = `${data.words.head} ${head}`;
    const curve = hover?.kind === "curve" && hover.layer === l ? hover : null;
    // Only what has changed is written: a hand that moves fast must not wait.
    for (const part of parts.curves) {
      const { q, k } = part;
      const w = this.weight(l, q, k);
      if (!part.path && w < FAINT) continue;
      const path = (part.path ??= parts.web.appendChild(svg("path", { class: "curve", d: this.curve(l, q, k) })));
      const mine = curve ? curve.q === q && curve.k === k : q === focus;
      const opacity = mine ? 0.35 + 0.6 * Math.sqrt(w) : pointed ? 0.07 : 0.1 + 0.35 * w;
      const thick = 9 * w * this.plan.layers[l].thick;
      if (part.thick !== thick) path.style.strokeWidth = `${(part.thick = thick)}px`;
      if (part.opacity !== opacity) path.style.strokeOpacity = part.opacity = opacity;
    }
    for (const { dot, role, row, list, most } of parts.ports) {
      const length = list[(l * this.heads + head) * rows + row];
      dot.setAttribute("r", 4.6 * Math.sqrt(length / most));
      const bright = role === "query" ? row === focus : row <= focus;
      dot.style.fillOpacity = bright ? 1 : pointed ? 0.15 : 0.4;
    }
    parts.lenses.forEach((path, r) => path.classList.toggle("on", r === focus));
  }

  paint(ratio) {
    for (let c = 0; c < this.tiles.length; c++) this.paintColumn(c, ratio);
  }

  // Only what has changed is drawn.
  paintColumn(c, ratio) {
    const { plan: p, focus } = this;
    const canvas = this.tiles[c];
    const pointed = this.hover?.row !== undefined;
    const width = c ? p.layers[c - 1].width : p.vector;
    const size = `${width} ${p.bottom} ${ratio}`;
    const shown = `${size} ${pointed ? focus : ""}`;
    if (canvas.shown === shown) return;
    canvas.shown = shown;
    if (canvas.size !== size) canvas.pen = fit(canvas, width, p.bottom, ratio);
    canvas.size = size;
    const { pen } = canvas;
    pen.clearRect(0, 0, width, p.bottom);
    pen.imageSmoothingEnabled = false;
    for (let r = 0; r < p.rows; r++) {
      pen.globalAlpha = !pointed || r === focus ? 1 : 0.28;
      drawTile(pen, canvas, r, 0, Math.round(p.y(r) - SIZES.tile / 2), width, SIZES.tile);
    }
  }

  // The scores of the row in focus become probabilities: bands whose thicknesses add up to one.
  fan() {
    const { plan: p, focus, data } = this;
    const { values, rows, next, words } = data;
    const listed = values.top_ids.shape[1];
    const atEnd = focus === rows.length - 1;
    const real = atEnd ? null : rows[focus + 1].id;
    const thick = 26;
    let from = p.y(focus) - thick / 2;
    this.entries.forEach((entry, k) => {
      const at = focus * listed + k;
      const other = k === listed;
      const share = other ? values.rest[focus] : values.top_probabilities[at];
      const id = other ? null : values.top_ids[at];
      const picked = atEnd && id === next.id;
      entry.band.setAttribute("d", ribbon(p.fan, from, p.list - 4, p.entryY(k) - (thick * share) / 2, thick * share));
      from += thick * share;
      entry.score.textContent = other ? "" : number(values.top_logits[at], 1);
      const name = other ? words.rest.replace("{count}", whole(data.vocab - listed)) : values.top_texts[focus][k];
      entry.text.textContent = other ? name : cut(name, Math.floor((p.barWidth - 8) / LETTER));
      entry.share.textContent = shareText(share);
      entry.bar.style.width = `${p.barWidth * share}px`;
      entry.mark.style.display = id !== null && id === real ? "" : "none";
      for (const node of [entry.band, entry.bar, entry.text, entry.share]) {
        node.classList.toggle("picked", picked);
        node.classList.toggle("other", other);
      }
    });
    const place = values.top_ids.subarray((rows.length - 1) * listed).indexOf(next.id);
    const picked = p.entryY(place < 0 ? listed : place);
    fill(this.nextTitle.sub, words.after, { token: { token: rows[focus].text } });
    this.scoresTitle.sub.textContent = whole(data.vocab);
    const right = p.shares + 9;
    const start = p.shares + 5;
    this.loop.setAttribute(
      "d",
      `M${start - 1} ${picked}Q${right} ${picked} ${right} ${picked + 7}V${p.loop - 10}` +
        `Q${right} ${p.loop} ${right - 10} ${p.loop}H${p.chip + 4}`,
    );
    this.arrow.setAttribute("d", `M${p.chip + 8} ${p.loop - 4}L${p.chip + 2} ${p.loop}L${p.chip + 8} ${p.loop + 4}`);
    this.groups[this.last].classList.toggle("elsewhere", !atEnd);
  }

  titleOf(step) {
    const { titles, network } = this.data.words;
    const ends = { 0: titles.tokens, 1: titles.ids, 2: titles.vectors, [this.last - 1]: titles.scores, [this.last]: titles.next };
    const layer = titles.layer.replace("{layer}", Math.floor((step - 3) / 2));
    return ends[step] ?? (step % 2 ? layer : `${layer}, ${network}`);
  }

  narrate(step, whole) {
    const { say } = this.data.words;
    if (whole && !this.player.playing && !this.told) return fill(this.say, say.rest, this.facts(0));
    const l = Math.max(0, Math.min(this.layers - 1, Math.floor((step - 3) / 2)));
    const key = { 0: "tokens", 1: "ids", 2: "vectors", [this.last - 1]: "scores", [this.last]: "next" }[step];
    fill(this.say, say[key ?? (step % 2 ? "attention" : "network")], this.facts(l));
  }

  // The live numbers that the sentences are filled with, for the row in focus.
  facts(l) {
    const { rows, values, vocab, next, words } = this.data;
    const r = this.focus;
    const listed = values.top_ids.shape[1];
    const size = values.vectors.shape[2];
    const name = (k) => ({ token: k < 0 ? words.before : rows[k].text });
    const sources = Array.from({ length: r + 2 }, (_, i) => i - 1).filter((k) => k >= 0 || rows[0].position);
    sources.sort((a, b) => this.weight(l, r, b) - this.weight(l, r, a));
    const best = r * listed;
    return {
      token: name(r),
      id: whole(rows[r].id),
      count: whole(rows.length + rows[0].position),
      vocab: whole(vocab),
      width: whole(size),
      numbers: Array.from(values.vectors.subarray(r * size, r * size + 3), (v) => number(v, 3)).join(", "),
      layer: l,
      head: this.view.heads[l],
      first: name(sources[0]),
      firstShare: shareText(this.weight(l, r, sources[0])),
      others: whole(sources.length - 1),
      othersShare: shareText(1 - this.weight(l, r, sources[0])),
      before: number(this.tiles[l].lengths[r], 2),
      length: number(this.tiles[l + 1].lengths[r], 2),
      added: number(values.mlp[l * rows.length + r], 2),
      best: { token: values.top_texts[r][0] },
      score: number(values.top_logits[best], 2),
      share: shareText(values.top_probabilities[best]),
      next: { token: next.ends ? words.end : next.text },
      nextShare: shareText(next.probability),
      layers: this.layers,
      heads: this.heads,
    };
  }
}
