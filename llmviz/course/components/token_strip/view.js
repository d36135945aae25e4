// Tokens as flowing chips, or as boxes under the characters that they cover.

import { css, el, follow, inkOn, inks, live, makeCard, markGhost, mix, onLeave, rgb, rgbText, styles } from "../_shared/common.js";
import { number, whole } from "../_shared/numbers.js";
import { breakLines, cellsOf, characterAt } from "./lines.js";
import { worded } from "../_shared/worded.js";

export default function (component) {
  return live(component, (root, send) => new TokenStrip(root, send));
}

const CELL = 15; // width of a character's cell in the aligned grid, in pixels
const TALL = { text: 26, row: 21, gap: 3, between: 14 };

const LARGE = 24; // tokens that are drawn in large type, where they stand alone

class TokenStrip {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.body = el("div", "strip");
    root.appendChild(this.body);
    this.card = makeCard(root);
    this.selected = null;
    this.body.addEventListener("pointerover", (e) => this.point(e.target.closest("[data-at]")));
    onLeave(this.body, () => this.point(null));
    this.body.addEventListener("focusin", (e) => {
      if (e.target.matches(":focus-visible")) this.point(e.target.closest("[data-at]"));
    });
    this.body.addEventListener("focusout", () => this.point(null));
    this.body.addEventListener("click", (e) => this.choose(e.target.closest("[data-at]")));
    this.body.addEventListener("keydown", (e) => this.keys(e));
  }

  update(data, width) {
    this.data = data;
    this.selected = follow(this, "selected", data.selected, this.selected);
    if (this.selected && !this.token(this.selected)) this.selected = null;
    this.layout(width);
  }

  token([row, index]) {
    return index < (this.data.rows[row]?.ids.length ?? 0);
  }

  layout(width) {
    this.width = width;
    this.card.hide();
    this.pieces = this.data.rows.map((row) => Array.from(row.ids, () => []));
    this.letters = [];
    this.body.classList.remove("dim");
    const { rows, mode } = this.data;
    this.body.classList.toggle("large", mode === "chips" && rows.length === 1 && rows[0].total <= LARGE);
    this.body.replaceChildren(...(this.data.mode === "aligned" ? this.aligned() : this.chips()));
    for (const row of this.data.rows) {
      if (row.total > row.ids.length) {
        const text = worded("{name}: the first {count} of {all} tokens are drawn.", {
          name: row.name,
          count: whole(row.ids.length),
          all: whole(row.total),
        });
        this.body.appendChild(el("p", "cut", text));
      }
    }
    this.rove(this.selected ?? [0, 0]);
    this.mark();
    const guessed = this.data.rows.map((row, r) => this.pieces[r][row.ghost]?.[0]);
    markGhost(this.body, guessed.find(Boolean));
  }

  // ---- chips

  chips() {
    const parts = [];
    this.data.rows.forEach((row, r) => {
      if (row.name || row.note) parts.push(this.heading(row));
      const flow = el("div", "flow", null, { role: "listbox", "aria-label": `tokens ${row.name}` });
      for (let i = 0; i < row.ids.length; i++) {
        const chip = el("span", "chip tok", null, { role: "option", "data-at": `${r},${i}` });
        chip.tabIndex = -1;
        this.paint(chip, row, i);
        chip.appendChild(this.written(row, i));
        if (this.data.showIds) chip.appendChild(el("span", "id num", row.ids[i]));
        this.pieces[r][i].push(chip);
        flow.appendChild(chip);
        if (row.texts[i].endsWith("⏎")) flow.appendChild(el("span", "break"));
      }
      parts.push(flow);
    });
    if ((this.data.valueLabel || this.data.ends) && this.data.rows.some((row) => row.values)) parts.push(this.scale());
    return parts;
  }

  heading(row) {
    const line = el("div", "heading");
    line.appendChild(el("span", "name", row.name));
    if (row.note) line.appendChild(el("span", "note num", row.note));
    return line;
  }

  // Signs that stand for whitespace are set back, so that the words stand out.
  written(row, i) {
    const box = el("span", row.whole[i] ? "text" : "text bytes");
    for (const part of row.texts[i].split(/([·⏎⇥␍]+)/)) {
      if (part) box.appendChild(el("span", /^[·⏎⇥␍]/.test(part) ? "space" : null, part));
    }
    return box;
  }

  paint(node, row, i) {
    if (!row.values) {
      const own = `color-mix(in srgb, var(--lv-${row.role}) 30%, var(--paper))`;
      node.style.setProperty("--fill", row.role ? own : `var(--lv-tint-${i % 6})`);
      return;
    }
    const [low, high] = this.data.valueRange;
    const value = row.values[i];
    const signed = low < 0; // zero is the paper then, and each sign has a colour
    const share = signed ? Math.min(1, Math.abs(value) / Math.max(-low, high)) : (value - low) / (high - low || 1);
    const pole = signed ? `--lv-neutral-${value < 0 ? "neg" : "pos"}` : `--lv-${row.role || "weights"}`;
    const fill = mix(rgb(css(this.root, "--paper")), rgb(css(this.root, pole)), share);
    node.style.setProperty("--fill", rgbText(fill));
    node.style.setProperty("--ink", inkOn(fill, inks(styles(this.root))));
    node.classList.add("valued");
  }

  scale() {
    const [low, high] = this.data.valueRange;
    const line = el("div", "scale num");
    line.appendChild(el("span", null, this.data.ends?.[0] ?? this.value(low, 2)));
    const ramp = el("span", low < 0 ? "ramp signed" : "ramp");
    const { role } = this.data.rows.find((row) => row.values);
    if (role) ramp.style.setProperty("--lv-weights", `var(--lv-${role})`);
    line.appendChild(ramp);
    line.appendChild(el("span", null, this.data.ends?.[1] ?? this.value(high, 2)));
    line.appendChild(el("span", "muted", this.data.valueLabel));
    return line;
  }

  // Counts are whole numbers and are written so.
  value(value, digits) {
    const counts = this.data.rows.every((row) => !row.values || row.values.every(Number.isInteger));
    return counts && Number.isInteger(value) ? whole(value) : number(value, digits);
  }

  // ---- aligned

  aligned() {
    const { characters, byteLengths, rows } = this.data;
    const starts = new Int32Array(characters.length + 1); // byte where each character begins
    for (let i = 0; i < characters.length; i++) starts[i + 1] = starts[i] + byteLengths[i];
    const gutter = this.width >= 560 ? Math.min(150, 16 + 7.4 * Math.max(...rows.map((r) => r.name.length))) : 0;
    const columns = Math.max(6, Math.floor((this.width - gutter - 2) / CELL));
    const cells = cellsOf(this.data, starts);
    const lines = breakLines(characters, cells, columns);
    const label = TALL.row + (gutter ? 0 : 13);
    const parts = [];
    if (!gutter || rows.some((row) => row.note)) parts.push(this.legend(rows));
    for (const line of lines) {
      const box = el("div", "line");
      const height = TALL.text + rows.length * (label + TALL.gap);
      box.style.height = `${height}px`;
      box.style.marginBottom = `${TALL.between}px`;
      for (let c = line.from; c < line.to; c++) this.letter(box, c, gutter + line.left[c - line.from] * CELL, cells[c]);
      rows.forEach((row, r) => {
        const top = TALL.text + r * (label + TALL.gap);
        const name = el("span", gutter ? "rowname" : "rowname above", row.name);
        name.style.top = `${top}px`;
        name.style.width = gutter ? `${gutter - 10}px` : "auto";
        box.appendChild(name);
        this.boxes(box, row, r, line, starts, gutter, top + label - TALL.row);
      });
      parts.push(box);
    }
    return parts;
  }

  legend(rows) {
    const box = el("div", "legend");
    for (const row of rows) box.appendChild(this.heading(row));
    return box;
  }

  letter(box, c, left, cells) {
    const text = this.data.characters[c];
    const soft = /^[·⏎⇥␍⍽⟨]/.test(text);
    const node = el("span", soft ? "letter space" : "letter", text);
    if (text.length > 2 && soft) node.classList.add("code");
    node.style.left = `${left}px`;
    node.style.width = `${cells * CELL}px`;
    this.letters[c] = node;
    box.appendChild(node);
  }

  boxes(box, row, r, line, starts, gutter, top) {
    const place = (byte) => {
      const c = Math.min(characterAt(starts, byte), line.to);
      if (c >= line.to) return line.end;
      const at = line.left[c - line.from];
      const span = (c + 1 < line.to ? line.left[c + 1 - line.from] : line.end) - at;
      return at + (span * (byte - starts[c])) / (starts[c + 1] - starts[c]);
    };
    const first = starts[line.from];
    const last = starts[line.to];
    const list = el("div", null, null, { role: "listbox", "aria-label": `tokens ${row.name}` });
    for (let i = 0; i < row.ids.length; i++) {
      const from = Math.max(row.byteStart[i], first);
      const to = Math.min(row.byteEnd[i], last);
      if (from >= to) continue;
      const left = place(from);
      const width = (place(to) - left) * CELL;
      const node = el("span", "box tok", null, { "data-at": `${r},${i}`, role: "option" });
      node.tabIndex = -1;
      this.paint(node, row, i);
      if (!row.whole[i]) node.classList.add("partial");
      if (row.byteStart[i] < first) node.classList.add("goes-on-left");
      if (row.byteEnd[i] > last) node.classList.add("goes-on-right");
      const label = row.whole[i] ? String(row.ids[i]) : row.texts[i];
      const letter = row.whole[i] ? 6.3 : 5.5;
      if ((this.data.showIds || !row.whole[i]) && label.length * letter + 2 < width) {
        node.appendChild(el("span", "num", label));
      }
      node.style.left = `${gutter + left * CELL}px`;
      node.style.width = `${Math.max(3, width - 2)}px`;
      node.style.top = `${top}px`;
      node.setAttribute("aria-label", `${row.name}: ${row.texts[i]}, id ${row.ids[i]}`);
      this.pieces[r][i].push(node);
      list.appendChild(node);
    }
    if (list.childElementCount) box.appendChild(list);
  }

  // ---- pointing and choosing

  point(node) {
    if (node === this.pointed) return;
    this.pointed = node;
    for (const lit of this.lit ?? []) lit.classList.remove("hot");
    this.lit = [];
    this.body.classList.toggle("dim", Boolean(node));
    if (!node) return this.card.hide();
    const [r, i] = node.dataset.at.split(",").map(Number);
    const row = this.data.rows[r];
    const from = row.byteStart[i];
    const to = row.byteEnd[i];
    this.data.rows.forEach((other, o) => {
      for (let k = 0; k < other.ids.length; k++) {
        const same = o === r && k === i;
        if (same || (other.byteStart[k] < to && other.byteEnd[k] > from)) this.lit.push(...this.pieces[o][k]);
      }
    });
    for (let c = row.charStart[i]; c < row.charEnd[i]; c++) if (this.letters[c]) this.lit.push(this.letters[c]);
    for (const piece of this.lit) piece.classList.add("hot");
    const pairs = [["bytes", row.hex[i]]];
    if (row.ids[i] >= 0) pairs.unshift(["id", whole(row.ids[i])]);
    if (!row.whole[i]) pairs.push(["", worded("part of a character")]);
    if (row.values) pairs.push([this.data.valueLabel || worded("value"), this.value(row.values[i], 4)]);
    for (const [name, value] of row.details?.[i] ?? []) pairs.push([name, String(value)]);
    this.card.show(node, row.texts[i], pairs);
  }

  choose(node) {
    if (!node) return;
    const at = node.dataset.at.split(",").map(Number);
    const again = this.selected && this.selected[0] === at[0] && this.selected[1] === at[1];
    this.selected = again ? null : at;
    this.rove(at);
    this.mark();
    this.send("selected", this.selected);
  }

  mark() {
    for (const node of this.marked ?? []) {
      node.classList.remove("selected");
      node.setAttribute("aria-selected", "false");
    }
    this.marked = this.selected ? this.pieces[this.selected[0]][this.selected[1]] : [];
    for (const node of this.marked) {
      node.classList.add("selected");
      node.setAttribute("aria-selected", "true");
    }
  }

  // One token is in the tab order; arrows move from it.
  rove(at) {
    if (this.tabbed) this.tabbed.tabIndex = -1;
    this.at = at;
    this.tabbed = this.pieces[at[0]]?.[at[1]]?.[0];
    if (this.tabbed) this.tabbed.tabIndex = 0;
  }

  keys(event) {
    const [r, i] = this.at;
    const here = this.data.rows[r];
    const rowTo = (o) => {
      const row = this.data.rows[o];
      return row
        ? [
            o,
            Math.max(
              0,
              row.byteEnd.findIndex((end) => end > here.byteStart[i]),
            ),
          ]
        : null;
    };
    const moves = {
      ArrowRight: () => [r, i + 1],
      ArrowLeft: () => [r, i - 1],
      ArrowDown: () => rowTo(r + 1),
      ArrowUp: () => rowTo(r - 1),
      Home: () => [r, 0],
      End: () => [r, here.ids.length - 1],
    };
    if (event.key === "Enter" || event.key === " ") this.choose(this.tabbed);
    else if (event.key === "Escape") {
      if (this.selected) this.choose(this.pieces[this.selected[0]][this.selected[1]][0]);
    } else if (moves[event.key]) {
      const to = moves[event.key]();
      if (to && this.pieces[to[0]]?.[to[1]]?.length) {
        this.rove(to);
        this.tabbed.focus();
        this.point(this.tabbed);
      }
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
