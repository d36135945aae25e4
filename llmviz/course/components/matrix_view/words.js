// What stands below linked matrices about a cell: where it is, its arithmetic, its formula.

import { formula } from "../_shared/arithmetic.js";
import { el } from "../_shared/common.js";
import { worded } from "../_shared/worded.js";

// Returns the parts of the line. `line`: the cell's arithmetic; `letGo`: what its button does if it
// is kept, else false.
export function detailOf(spot, line, matrices, letGo) {
  if (!spot) {
    return [el("span", "muted", worded("Point at a cell to see where its number comes from; click to keep it."))];
  }
  const m = matrices.get(spot.name);
  const [i, j] = spot.cell;
  const where = el("span", "where");
  const place = [m.rowLabels[i] ?? worded("row {at}", { at: i }), m.colLabels[j] ?? worded("column {at}", { at: j })].join(", ");
  where.append(el("b", null, m.label), el("span", "muted", ` ${place}`));
  const parts = [where, sumOf(line)];
  if (!line.full) parts.push(el("span", "muted more", worded("click for every term")));
  if (m.notes[i]) parts.push(el("span", "note", m.notes[i]));
  if (letGo) {
    parts.push(el("span", "formula-line num muted", formula(matrices, m, i, j)));
    const free = el("button", "free", "×", { type: "button", "aria-label": worded("close this cell (Esc)") });
    free.onclick = letGo;
    parts.push(free);
  }
  return parts;
}

function sumOf(line) {
  const sum = el("span", "sum num");
  for (const part of line.parts) {
    const node = el(part.sup ? "sup" : "span", part.caret ? "caret" : part.strong ? "strong" : null, part.text);
    if (part.role) node.style.color = `var(--lv-${part.role}-text)`;
    sum.appendChild(node);
  }
  return sum;
}
