// The page with steps of a model on what a visitor types.

import { fixed, whole } from "../../components/_shared/numbers.js";
import { softmax } from "./model.js";
import { el } from "./page_parts.js";
import { attention, cosine, dot, learned, length } from "./parts.js";
import { say } from "./said.js";
import { withTemperature } from "./sampling.js";

export { attention, cosine, learned };

const LARGEST = 8; // rows and columns of a matrix, numbers of a vector
const FARTHEST = 1e6; // of a number, from 0
const SHOWN = 600; // tokens

// The numbers of a line, or what is wrong with it.
export function numbers(line) {
  const found = line
    .trim()
    .split(/[\s;]+/)
    .filter(Boolean);
  if (!found.length) throw new RangeError(say("Type at least one number."));
  if (found.length > LARGEST) throw new RangeError(say("At most {most} numbers fit here.", { most: LARGEST }));
  return found.map((one) => {
    const value = Number(one.replace("−", "-").replace(",", "."));
    if (!Number.isFinite(value)) throw new RangeError(say("“{text}” is not a number.", { text: one.slice(0, 20) }));
    if (Math.abs(value) > FARTHEST) throw new RangeError(say("Numbers from −{most} to {most} fit here.", { most: whole(FARTHEST) }));
    return value;
  });
}

export function matrix(text, name) {
  const rows = text
    .split("\n")
    .filter((line) => line.trim())
    .map(numbers);
  if (!rows.length) throw new RangeError(say("{name} has no row.", { name }));
  if (rows.length > LARGEST) throw new RangeError(say("{name} has more than {most} rows.", { name, most: LARGEST }));
  if (rows.some((row) => row.length !== rows[0].length)) throw new RangeError(say("The rows of {name} differ in length.", { name }));
  return rows;
}

// `|| 0`: what is rounded to 0 has no sign.
const written = (value, digits = 3) => (value === -Infinity ? "−∞" : fixed(Number(value.toFixed(digits)) || 0, digits));

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
    const all = say("Bytes: {bytes}. Tokens now: {tokens}.", { bytes: whole(bytes), tokens: whole(tokens) });
    const end = steps.length < most ? say("No pair is left: every piece is one token.") : "";
    at("learned").textContent = `${all} ${end}`;
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
      if (a.length !== b.length) {
        const lengths = { a: a.length, b: b.length };
        throw new RangeError(say("a and b need equally many numbers; a has {a}, b has {b}.", lengths));
      }
      const products = a.map((one, i) => `${written(one, 2)}·${one < 0 || b[i] < 0 ? `(${written(b[i], 2)})` : written(b[i], 2)}`);
      const angle = cosine(a, b);
      rows.push([say("dot product"), `${products.join(" + ")} = ${written(dot(a, b))}`]);
      for (const [name, vector] of Object.entries({ a, b })) rows.push([say("length of {name}", { name }), written(length(vector))]);
      rows.push([say("cosine"), angle === null ? say("none: a vector of length 0 has no direction") : written(angle)]);
      if (angle !== null) rows.push([say("angle"), `${fixed((Math.acos(angle) * 180) / Math.PI, 1)}°`]);
    } catch (error) {
      rows.push(["", error.message]);
    }
    at("compared").replaceChildren(...rows.flatMap(([name, value]) => [el("dt", "", name), el("dd", "", value)]));
  }

  function share() {
    const temperature = Number(at("warm").value);
    at("warm-now").textContent = temperature === 0 ? say("0: the largest alone") : fixed(temperature, 2);
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
        const into = temperature === 0 ? say(divided[i] === -Infinity ? "cut" : "kept") : written(divided[i]);
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
      if (q[0].length !== k[0].length) throw new RangeError(say("Q and K need equally many columns."));
      if (k.length !== v.length) throw new RangeError(say("K and V need equally many rows."));
      const causal = at("causal").checked;
      if (causal && q.length !== k.length) throw new RangeError(say("With the causal mask, Q and K need equally many rows."));
      const steps = attention(q, k, v, causal);
      const titles = {
        scores: say("scores = {product}", { product: "Q · Kᵀ" }),
        scaled: say("scaled = scores ÷ {root}", { root: `√${q[0].length}` }),
        masked: say("masked: −∞ where a token may not look"),
        weights: say("weights = softmax of each row"),
        output: say("output = weights · V"),
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
