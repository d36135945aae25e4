// A picture's numbers as tables on the page, with what they say in words: for a screen reader, and for all.

import { el } from "../common.js";
import { worded } from "../worded.js";
import { shown, summary } from "./summary.js";

const SHEET_MOST = [200, 40]; // rows and columns of a table that are shown
const SHEET_WORDS = {
  title: "The numbers of this picture",
  close: "Close",
};

export class Sheet {
  constructor(box) {
    this.box = el("dialog", "sheet", null, { "aria-labelledby": "sheet-title" });
    this.said = el("p");
    this.body = el("div", "sheet-body", null, { tabindex: 0, role: "region", "aria-label": worded(SHEET_WORDS.title) });
    const close = el("button", "sheet-close", worded(SHEET_WORDS.close), { type: "button" });
    close.onclick = () => this.box.close();
    this.box.append(el("h2", null, worded(SHEET_WORDS.title), { id: "sheet-title" }), this.said, this.body, close);
    this.box.onclick = (event) => event.target === this.box && this.box.close();
    box.append(this.box);
  }

  open(tables, back) {
    this.said.textContent = summary(tables);
    this.body.replaceChildren(...tables.filter(({ rows }) => rows.length).flatMap(tableOf));
    this.box.onclose = () => back?.focus();
    this.box.showModal();
    this.body.focus();
  }
}

function tableOf({ title, head, rows }) {
  const wide = Math.max(head?.length ?? 0, rows[0].length);
  const table = el("table", "num");
  if (title) table.append(el("caption", null, title));
  const named = head?.[0] === "";
  if (head) {
    const line = el("tr");
    line.append(
      ...head.slice(0, SHEET_MOST[1]).map((name, c) => (named && c === 0 ? el("td") : el("th", null, shown(name), { scope: "col" }))),
    );
    table.append(line);
  }
  for (const row of rows.slice(0, SHEET_MOST[0])) {
    const line = el("tr");
    line.append(
      ...row
        .slice(0, SHEET_MOST[1])
        .map((cell, c) => (named && c === 0 ? el("th", null, shown(cell), { scope: "row" }) : el("td", null, shown(cell)))),
    );
    table.append(line);
  }
  if (rows.length <= SHEET_MOST[0] && wide <= SHEET_MOST[1]) return [table];
  const counts = { rows: Math.min(rows.length, SHEET_MOST[0]), all: rows.length, columns: Math.min(wide, SHEET_MOST[1]), wide };
  return [
    table,
    el("p", "muted", worded("Shown are the first {rows} of {all} rows and {columns} of {wide} columns. The file (CSV) has all.", counts)),
  ];
}
