// A table of coloured cells; pointing says what a cell holds, a click or Enter chooses it.

import { css, el, follow, inkOn, inks, live, markGhost, mix, onLeave, rgb, rgbText, styles } from "../_shared/common.js";
import { gridKey } from "../_shared/keys.js";
import { showWhole } from "../_shared/whole_columns.js";
import { worded } from "../_shared/worded.js";

const MANY = 24; // with more rows than these all of them are seen at once, lower

export default function (component) {
  return live(component, (root, send) => new CellGrid(root, send));
}

class CellGrid {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.frame = el("div", "cells-frame");
    this.table = el("table", "cells", null, { role: "grid" });
    this.frame.append(this.table);
    this.foot = el("div", "cells-foot");
    this.told = el("span", "cells-told", null, { role: "status", "aria-live": "polite" });
    this.low = el("span", "muted");
    this.bar = el("span", "cells-scale");
    this.high = el("span", "muted");
    this.legend = el("span", "cells-legend");
    this.legend.append(this.low, this.bar, this.high);
    this.foot.append(this.told, this.legend);
    root.append(this.frame, this.foot);
    this.chosen = null;
    const place = (event) => this.placeOf(event.target.closest?.("td"));
    this.table.onmouseover = (event) => this.tell(place(event) ?? this.chosen);
    onLeave(this.table, () => this.tell(this.chosen));
    this.table.addEventListener("focusin", (event) => this.tell(place(event)));
    this.table.onclick = (event) => this.choose(place(event));
    this.table.onkeydown = (event) => this.key(event, place(event));
  }

  update(data) {
    this.data = data;
    const [rows, columns] = data.values.shape;
    const focused = this.table.getRootNode().activeElement;
    const place = this.table.contains(focused) ? this.placeOf(focused.closest("td")) : null;
    this.chosen = follow(this, "chosen", data.chosen, this.chosen);
    if (this.chosen && !(this.chosen[0] < rows && this.chosen[1] < columns)) this.chosen = null;
    this.table.setAttribute("aria-label", data.label);
    this.table.classList.toggle("narrow", !data.texts.length);
    this.table.classList.toggle("many", data.values.shape[0] > MANY);
    const head = el("tr");
    head.append(el("th", "corner"));
    for (const name of data.columnNames) {
      const cell = el("th", "column", null, { scope: "col", title: name });
      cell.append(el("span", null, name));
      head.append(cell);
    }
    const body = data.rowNames.flatMap((name, row) => {
      const line = el("tr");
      line.append(el("th", "row", name, { scope: "row" }));
      for (let column = 0; column < columns; column++) {
        const cell = el("td", data.strong?.[row * columns + column] ? "strong" : "", data.texts[row]?.[column] ?? "");
        cell.dataset.at = `${row}.${column}`;
        cell.tabIndex = -1;
        cell.setAttribute("aria-label", this.line([row, column]));
        line.append(cell);
      }
      return data.starts.includes(row) ? [el("tr", "gap"), line] : [line];
    });
    this.table.replaceChildren(head, ...body);
    [this.low.textContent, this.high.textContent] = data.scale;
    this.legend.hidden = !data.scale[1];
    this.layout();
    this.mark();
    markGhost(this.root, data.ghost && this.cell(data.ghost));
    this.tell(this.chosen);
    // The cells are new ones: the keyboard stays where it was.
    if (place) this.cell(place)?.focus({ preventScroll: true });
  }

  layout() {
    const { values, limit, signed, role } = this.data;
    const paper = rgb(css(this.root, "--st-background-color") || css(this.root, "--lv-surface"));
    const both = inks(styles(this.root));
    const high = rgb(css(this.root, signed ? `--lv-${role}-pos` : `--lv-${role}`));
    const low = signed ? rgb(css(this.root, `--lv-${role}-neg`)) : paper;
    this.table.querySelectorAll("td").forEach((cell, i) => {
      const share = Math.max(-1, Math.min(1, values[i] / limit));
      const color = mix(paper, share < 0 ? low : high, Math.abs(share));
      cell.style.background = rgbText(color);
      cell.style.color = inkOn(color, both);
    });
    const stops = signed ? [low, paper, high] : [paper, high];
    this.bar.style.background = `linear-gradient(90deg, ${stops.map(rgbText).join(", ")})`;
    const [, column] = this.chosen ?? this.data.together[0] ?? [0, 0];
    showWhole(this.frame, [...this.table.querySelectorAll("th.column")], column);
  }

  cell([row, column]) {
    return this.table.querySelector(`td[data-at="${row}.${column}"]`);
  }

  placeOf(cell) {
    return cell ? cell.dataset.at.split(".").map(Number) : null;
  }

  line([row, column]) {
    const { rowNames, columnNames, notes } = this.data;
    const note = notes[row]?.[column];
    const name = worded("{one}, {other}", { one: rowNames[row], other: columnNames[column] });
    return note ? worded("{name}: {text}", { name, text: note }) : name;
  }

  tell(place) {
    this.told.textContent = place ? this.line(place) : "";
  }

  mark() {
    this.table.querySelectorAll("[aria-selected]").forEach((cell) => cell.removeAttribute("aria-selected"));
    const cells = (this.chosen ? [this.chosen] : this.data.together).map((place) => this.cell(place));
    for (const cell of cells) cell?.setAttribute("aria-selected", "true");
    (cells[0] ?? this.cell([0, 0])).tabIndex = 0;
  }

  choose(place) {
    if (!place) return;
    this.chosen = place;
    this.mark();
    this.send("chosen", place);
  }

  key(event, place) {
    if (!place) return;
    gridKey(
      event,
      place,
      () => this.choose(place),
      (next) => this.cell(next)?.focus(),
    );
  }
}
