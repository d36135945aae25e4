// The page with steps of a model on what a visitor types.

import { softmax } from "./model.js";
import { attention, cosine, dot, learned, length } from "./parts.js";
import { withTemperature } from "./sampling.js";

export { attention, cosine, learned };

const LARGEST = 8; // rows and columns of a matrix, numbers of a vector
const SHOWN = 600; // tokens

function el(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// The numbers of a line, or what is wrong with it.
export function numbers(line) {
  const found = line
    .trim()
    .split(/[\s;]+/)
    .filter(Boolean);
  if (!found.length) throw new RangeError("Type at least one number.");
  if (found.length > LARGEST) throw new RangeError(`At most ${LARGEST} numbers fit here.`);
  return found.map((one) => {
    const value = Number(one.replace("−", "-").replace(",", "."));
    if (!Number.isFinite(value)) throw new RangeError(`“${one.slice(0, 20)}” is not a number.`);
    if (Math.abs(value) > 1e6) throw new RangeError("Numbers from −1,000,000 to 1,000,000 fit here.");
    return value;
  });
}

export function matrix(text, name) {
  const rows = text
    .split("\n")
    .filter((line) => line.trim())
    .map(numbers);
  if (!rows.length) throw new RangeError(`${name} has no row.`);
  if (rows.length > LARGEST) throw new RangeError(`${name} has more than ${LARGEST} rows.`);
  if (rows.some((row) => row.length !== rows[0].length)) throw new RangeError(`The rows of ${name} differ in length.`);
  return rows;
}

const written = (value, digits = 3) =>
  value === -Infinity
    ? "−∞"
    : value
        .toFixed(digits)
        .replace(/^-(0\.?0*)$/, "$1")
        .replace("-", "−");

export function start() {
  const at = (name) => document.getElementById(`parts-${name}`);

  function learn() {
    const most = Number(at("merges").value);
    const { steps, pieces } = learned(at("text").value, most);
    const known = Array.from({ length: 256 }, (_, byte) => [byte]);
    for (const { pair } of steps) known.push([...known[pair[0]], ...known[pair[1]]]);
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const named = (id) => {
      try {
        return decoder.decode(Uint8Array.from(known[id])).replaceAll(" ", "·").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
      } catch {
        return known[id].map((byte) => byte.toString(16).padStart(2, "0")).join(" "); // no whole character
      }
    };
    at("merges-now").textContent = most;
    const bytes = pieces.flat().reduce((sum, id) => sum + known[id].length, 0);
    const tokens = pieces.reduce((sum, ids) => sum + ids.length, 0);
    const end = steps.length < most ? " No pair is left: every piece is one token." : "";
    at("learned").textContent = `${bytes.toLocaleString("en")} bytes are ${tokens.toLocaleString("en")} tokens now.${end}`;
    const chips = [];
    for (const ids of pieces) {
      const piece = el("span", "piece");
      for (const id of ids) {
        if (chips.length >= SHOWN) break;
        piece.append(el("span", "chip", named(id)));
      }
      chips.push(piece);
      if (chips.length >= SHOWN) break;
    }
    at("pieces").replaceChildren(...chips);
    at("steps").replaceChildren(
      ...steps.map(({ pair, count, length: left }, rank) => {
        const row = el("tr");
        const cells = [rank + 1, pair.map(named).join(" + "), named(256 + rank), count, left];
        row.append(...cells.map((cell, i) => el("td", [0, 3, 4].includes(i) ? "number" : "token", String(cell))));
        return row;
      }),
    );
  }

  function compare() {
    const rows = [];
    try {
      const [a, b] = [numbers(at("a").value), numbers(at("b").value)];
      if (a.length !== b.length) throw new RangeError(`a has ${a.length} numbers and b has ${b.length}.`);
      const products = a.map((one, i) => `${written(one, 2)}·${one < 0 || b[i] < 0 ? `(${written(b[i], 2)})` : written(b[i], 2)}`);
      const angle = cosine(a, b);
      rows.push(["dot product", `${products.join(" + ")} = ${written(dot(a, b))}`]);
      rows.push(["length of a", written(length(a))], ["length of b", written(length(b))]);
      rows.push(["cosine", angle === null ? "none: a vector of length 0 has no direction" : written(angle)]);
      if (angle !== null) rows.push(["angle", `${((Math.acos(angle) * 180) / Math.PI).toFixed(1)}°`]);
    } catch (error) {
      rows.push(["", error.message]);
    }
    at("compared").replaceChildren(...rows.flatMap(([name, value]) => [el("dt", "", name), el("dd", "", value)]));
  }

  function share() {
    const temperature = Number(at("warm").value);
    at("warm-now").textContent = temperature === 0 ? "0: the largest alone" : temperature.toFixed(2);
    const rows = [];
    try {
      const scores = numbers(at("scores").value);
      const divided = withTemperature(Float64Array.from(scores), temperature);
      const shares = softmax(divided);
      for (const [i, score] of scores.entries()) {
        const row = el("tr");
        const bar = el("span", "length");
        bar.style.width = `calc(var(--bar) * ${shares[i].toFixed(4)})`;
        const cell = el("td", "bar");
        cell.append(bar, el("span", "", written(shares[i])));
        const into = temperature === 0 ? (divided[i] === -Infinity ? "cut" : "kept") : written(divided[i]);
        row.append(el("td", "number", written(score)), el("td", "number", into), cell);
        rows.push(row);
      }
    } catch (error) {
      const row = el("tr");
      row.append(el("td", "", error.message));
      rows.push(row);
    }
    at("shares").replaceChildren(...rows);
  }

  function attend() {
    at("wrong").textContent = "";
    const place = at("steps-of-attention");
    try {
      const [q, k, v] = ["q", "k", "v"].map((name) => matrix(at(name).value, name.toUpperCase()));
      if (q[0].length !== k[0].length) throw new RangeError("Q and K need equally many columns.");
      if (k.length !== v.length) throw new RangeError("K and V need equally many rows.");
      const causal = at("causal").checked;
      if (causal && q.length !== k.length) throw new RangeError("With the causal mask, Q and K need equally many rows.");
      const steps = attention(q, k, v, causal);
      const titles = {
        scores: "scores = Q · Kᵀ",
        scaled: `scaled = scores ÷ √${q[0].length}`,
        masked: "masked: −∞ where a token may not look",
        weights: "weights = softmax of each row",
        output: "output = weights · V",
      };
      if (!causal) delete titles.masked;
      place.replaceChildren(
        ...Object.entries(titles).map(([name, title]) => {
          const table = el("table", "matrix");
          table.append(el("caption", "", title));
          for (const values of steps[name]) {
            const row = el("tr");
            for (const value of values) {
              const cell = el("td", "number", written(value));
              if (name === "weights") cell.style.background = `color-mix(in srgb, #7c4dff ${Math.round(60 * value)}%, transparent)`;
              row.append(cell);
            }
            table.append(row);
          }
          return table;
        }),
      );
    } catch (error) {
      at("wrong").textContent = error.message;
      place.replaceChildren();
    }
  }

  const follows = {
    text: learn,
    merges: learn,
    a: compare,
    b: compare,
    scores: share,
    warm: share,
    q: attend,
    k: attend,
    v: attend,
    causal: attend,
  };
  for (const [name, work] of Object.entries(follows)) {
    at(name).addEventListener("input", work);
    work();
  }
}
