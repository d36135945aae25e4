// The numbers of the update that a walker is about to make; a cell tells how it came about.

import { el, remember, remembered } from "../_shared/common.js";
import { fixed, number, powerOfTen, whole } from "../_shared/numbers.js";
import { hue, stepsAt } from "./walks.js";

export class UpdateTable {
  constructor(root, onFollow) {
    this.box = el("div", "update");
    this.tabs = el("div", "tabs", null, { role: "group" });
    this.table = el("div", "numbers");
    this.line = el("p", "told num", null, { "aria-live": "polite" });
    this.which = el("p", "which small-head");
    this.box.append(this.tabs, this.which, this.table, this.line);
    root.appendChild(this.box);
    this.onFollow = onFollow;
  }

  update(data) {
    this.data = data;
    this.buttons = data.walkers.map((walker, w) => {
      const button = el("button", "tab", null, { type: "button" });
      const dot = el("span", "dot");
      dot.style.background = hue(walker.role);
      button.append(dot, el("span", null, walker.label));
      button.onclick = () => this.onFollow(w);
      return button;
    });
    this.tabs.replaceChildren(...this.buttons);
    this.tabs.hidden = data.walkers.length < 2;
  }

  // Every value that arithmetic may name, for weight p of the update after `k` steps.
  values(walker, stop, k, p) {
    const [, n, P] = walker.path.shape;
    const S = n - 1;
    const numbers = { lr: this.data.rates[stop], t: k + 1, ...walker.constants };
    numbers.w = walker.path[(stop * n + k) * P + p];
    numbers.next = walker.path[(stop * n + Math.min(S, k + 1)) * P + p];
    for (const [name, values] of Object.entries(walker.values)) {
      numbers[name] = values[(stop * S + k) * P + p];
      numbers[`${name}'`] = k ? values[(stop * S + k - 1) * P + p] : 0;
    }
    return numbers;
  }

  paint(stops, place, followed) {
    const { words, names } = this.data;
    const walker = this.data.walkers[followed];
    const stop = stops[followed];
    this.buttons.forEach((button, w) => button.setAttribute("aria-pressed", w === followed));
    const P = walker.path.shape[2];
    const last = walker.path.shape[1] - 1;
    // At the end the last step that was taken is drawn.
    const k = Math.min(stepsAt(walker, place), last - 1, Math.max(0, walker.lasted[stop] - 1));
    const gone = walker.lasted[stop] < last && stepsAt(walker, place) >= walker.lasted[stop];
    this.which.textContent = (gone ? words.has_left : words.which)
      .replace("{step}", whole(k + 1))
      .replace("{all}", whole(last))
      .replace("{name}", walker.label);
    const all = [...Array(P).keys()].map((p) => this.values(walker, stop, k, p));
    const kept = remembered(this.box, "cell"); // [name of a row, weight], joined
    const rows = [
      { name: "w", label: words.weight, text: "" },
      ...walker.rows,
      {
        name: "next",
        label: words.next,
        text: walker.constants.lambda !== undefined && walker.values.decay ? "{w} + {decay} + {step}" : "{w} + {step}",
      },
    ];
    const parts = [el("span", "head")];
    for (const name of names.slice(0, P)) parts.push(el("span", "head num", name));
    for (const row of rows) {
      parts.push(el("span", "row-name", row.label));
      for (let p = 0; p < P; p++) {
        const cell = el("button", "value num", fine(all[p][row.name]), { type: "button", "data-row": row.name, "data-weight": p });
        const at = `${row.name},${p}`;
        cell.classList.toggle("on", kept === at);
        cell.onpointerenter = () => this.tell(row, p, all[p]);
        cell.onfocus = () => this.tell(row, p, all[p]);
        cell.onpointerleave = () => this.rest(rows, all);
        cell.onclick = () => {
          remember(this.box, "cell", kept === at ? null : at);
          this.paint(stops, place, followed);
        };
        parts.push(cell);
      }
    }
    this.table.style.gridTemplateColumns = `minmax(8.5em, auto) repeat(${P}, minmax(5.6em, 1fr))`;
    this.table.replaceChildren(...parts);
    this.rest(rows, all);
  }

  // Without a pointer the kept cell is told, or else the step of the first weight.
  rest(rows, all) {
    const [name, p] = (remembered(this.box, "cell") ?? "step,0").split(",");
    const row = rows.find((one) => one.name === name) ?? rows[rows.length - 2];
    this.tell(row, Math.min(Number(p), all.length - 1), all[Math.min(Number(p), all.length - 1)]);
  }

  tell(row, p, values) {
    const label = `${row.label} ${this.data.names[p] ?? ""}`.trim();
    const text = row.text.replace(/\{([^}]+)\}/g, (_, name) => bracket(values[name], name));
    this.line.textContent = row.text ? `${label} = ${text} = ${fine(values[row.name])}` : `${label}: ${fine(values[row.name])}`;
  }
}

export function bracket(value, name) {
  if (name === "t") return String(value);
  const text = fine(value)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
  return value < 0 ? `(${text})` : text;
}

// At least four digits that count, so that a product can be checked with what stands there.
function fine(x) {
  const size = Math.abs(x);
  if (!size || size >= 0.1 || !Number.isFinite(x)) return number(x, 4);
  if (size >= 1e-4) return number(x, 3 - Math.floor(Math.log10(size)));
  const [mantissa, exponent] = x.toExponential(3).split("e");
  return `${fixed(Number(mantissa), 3)}·${powerOfTen(exponent)}`;
}
