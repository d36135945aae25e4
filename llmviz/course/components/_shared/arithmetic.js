// The arithmetic of one cell as text, from the numbers of its operands. Only numbers that came from
// Python are written; the result is the matrix's own value.
// What comes back holds `parts` (text, role, how it is set), `touched` (bands of rows and
// columns of the operands) and `full` (false when terms were left out).

import { NORM_FORMULAS, NORMS } from "./norm_arithmetic.js";
import { number } from "./numbers.js";

const TERMS = 6; // products written out while hovering; a kept cell shows them all

export function arithmetic(matrices, matrix, i, j, all) {
  const op = matrix.op;
  const of = op ? op.of.map((name) => matrices.get(name)) : [];
  const line = new Line(matrix.digits, all);
  if (op) OPERATIONS[op.kind](line, op, of, i, j);
  const value = at(matrix, i, j);
  if (!op) line.say(number(value, matrix.digits), matrix.role);
  else if (op.kind === "masked") line.say(value === -Infinity ? " → " : " stays ");
  else line.say(" = ");
  if (op) line.say(line.hidden(matrix, i, j) ? "?" : number(value, matrix.digits), matrix.role, true);
  if (value === -Infinity && op?.reason) line.say(`  (${op.reason})`);
  return line;
}

class Line {
  constructor(digits, all) {
    Object.assign(this, { parts: [], touched: [], full: true, all, digits });
  }

  say(text, role, strong) {
    this.parts.push({ text, role, strong });
    return this;
  }

  // A number of an operand, in the colour of its role; negative factors stand in brackets.
  cell(matrix, i, j, bracket = true) {
    const row = matrix.rows === 1 ? 0 : i;
    const col = matrix.cols === 1 ? 0 : j;
    if (this.hidden(matrix, row, col)) return this.say("?", matrix.role);
    const value = at(matrix, row, col);
    const text = matrix.digits === 0 ? number(value, 0) : plain(value, this.digits); // counts are whole
    return this.say(bracket && value < 0 ? `(${text})` : text, matrix.role);
  }

  exponential(matrix, i, j) {
    this.say("e").parts.push({ text: "^", caret: true });
    const value = at(matrix, i, j);
    this.parts.push({ text: this.hidden(matrix, i, j) ? "?" : plain(value, this.digits), role: matrix.role, sup: true });
    return this;
  }

  hidden(matrix, i, j) {
    return matrix.hide.has(i * matrix.cols + j);
  }

  touch(matrix, rows, cols) {
    this.touched.push({ name: matrix.name, rows, cols });
    return this;
  }

  // A sum of many terms: all of them for a kept cell, the first few while hovering.
  sum(count, term) {
    const listed = this.all || count <= TERMS + 2 ? count : TERMS;
    for (let k = 0; k < listed; k++) {
      if (k) this.say(" + ");
      term(k);
    }
    if (listed < count) {
      this.full = false;
      this.say(` + … (${count - listed} more)`);
    }
  }
}

const OPERATIONS = {
  ...NORMS,

  matmul(line, op, [a, b, bias], i, j) {
    line.touch(a, [i, i], null);
    if (op.transpose_b) line.touch(b, [j, j], null);
    else line.touch(b, null, [j, j]);
    line.sum(a.cols, (k) => {
      line.cell(a, i, k).say("×");
      if (op.transpose_b) line.cell(b, j, k);
      else line.cell(b, k, j);
    });
    if (bias) {
      line.touch(bias, [0, 0], [j, j]);
      line.say(" + ").cell(bias, 0, j);
    }
  },

  scaled(line, op, [a], i, j) {
    line.touch(a, [i, i], [j, j]).cell(a, i, j).say(` ${op.text}`);
  },

  masked(line, op, [a], i, j) {
    line.touch(a, [i, i], [j, j]).cell(a, i, j, false);
  },

  softmax_rows(line, op, [a], i, j) {
    line.touch(a, [i, i], null);
    line.exponential(a, i, j).say(" / (");
    line.sum(a.cols, (k) => line.exponential(a, i, k));
    line.say(")");
  },

  rows_normalised(line, op, [a], i, j) {
    line.touch(a, [i, i], null);
    line.cell(a, i, j).say(" / (");
    line.sum(a.cols, (k) => line.cell(a, i, k));
    line.say(")");
  },

  add(line, op, of, i, j) {
    line.sum(of.length, (k) => line.touch(of[k], band(of[k].rows, i), band(of[k].cols, j)).cell(of[k], i, j));
  },

  multiply(line, op, [a, b], i, j) {
    line.touch(a, band(a.rows, i), band(a.cols, j)).touch(b, band(b.rows, i), band(b.cols, j));
    line.cell(a, i, j).say("×").cell(b, i, j);
  },

  lookup(line, op, [table], i, j) {
    const row = op.rows[i];
    line.touch(table, [row, row], null);
    line.say(`row ${row} of ${table.label}, column ${j}`);
  },

  concat(line, op, of, i, j) {
    let from = 0;
    for (const part of of) {
      if (j < from + part.cols) {
        line.touch(part, [i, i], [j - from, j - from]);
        line.say(`column ${j - from} of `).say(part.label, part.role);
        return;
      }
      from += part.cols;
    }
  },

  stacked(line, op, of, i, j) {
    let from = 0;
    for (const part of of) {
      if (i < from + part.rows) {
        line.touch(part, [i - from, i - from], [j, j]);
        line.say(`row ${i - from} of `).say(part.label, part.role);
        return;
      }
      from += part.rows;
    }
  },

  columns(line, op, [a], i, j) {
    const col = op.start + j;
    line.touch(a, [i, i], [col, col]).say(`column ${col} of `).say(a.label, a.role);
  },

  transposed(line, op, [a], i, j) {
    line.touch(a, [j, j], [i, i]).say(`row ${j}, column ${i} of `).say(a.label, a.role);
  },

  dropout(line, op, [a, keep], i, j) {
    line.touch(a, [i, i], [j, j]).touch(keep, [i, i], [j, j]);
    if (at(keep, i, j)) line.cell(a, i, j).say(` / (1 − ${plain(op.p, 2)})`);
    else line.say("dropped: ").cell(a, i, j).say(" × 0");
  },

  turned(line, op, [a, angle], i, j) {
    const half = a.cols / 2;
    const pair = j < half ? j + half : j - half;
    line
      .touch(a, [i, i], [j, j])
      .touch(a, [i, i], [pair, pair])
      .touch(angle, [i, i], [j % half, j % half]);
    line
      .cell(a, i, j)
      .say("×cos(")
      .cell(angle, i, j % half, false)
      .say(j < half ? ") − " : ") + ");
    line
      .cell(a, i, pair)
      .say("×sin(")
      .cell(angle, i, j % half, false)
      .say(")");
  },

  picked(line, op, [a], i) {
    const col = op.columns[i];
    const place = [a.rowLabels[i] ?? i, a.colLabels[col] ?? col].join(", ");
    line.touch(a, [i, i], [col, col]).say(a.label, a.role).say(`[${place}]`);
  },

  summed(line, op, [a], i, j) {
    line.touch(a, null, [j, j]);
    line.sum(a.rows, (k) => line.cell(a, k, j));
  },

  subtracted(line, op, [a, b], i, j) {
    line.touch(a, band(a.rows, i), band(a.cols, j)).touch(b, band(b.rows, i), band(b.cols, j));
    line.cell(a, i, j, false).say(" − ").cell(b, i, j);
  },

  lengths(line, op, [a], i) {
    line.touch(a, [i, i], null).say("√(");
    line.sum(a.cols, (k) => line.cell(a, i, k).say("²"));
    line.say(")");
  },

  row_summed(line, op, [a], i) {
    line.touch(a, [i, i], null);
    line.sum(a.cols, (k) => line.cell(a, i, k));
  },

  divided(line, op, [a, b], i, j) {
    line.touch(a, band(a.rows, i), band(a.cols, j)).touch(b, band(b.rows, i), band(b.cols, j));
    line.cell(a, i, j).say(" ÷ ").cell(b, i, j);
  },

  function(line, op, [a], i, j) {
    line.touch(a, [i, i], [j, j]).say(`${op.text}(`).cell(a, i, j, false).say(")");
  },

  normalised(line, op, [a, mean, deviation, ...rest], i, j) {
    line.touch(a, [i, i], [j, j]).touch(mean, [i, i], [0, 0]).touch(deviation, [i, i], [0, 0]);
    line.say("(").cell(a, i, j).say(" − ").cell(mean, i, 0).say(") / ").cell(deviation, i, 0);
    if (op.gain) line.touch(rest[0], [0, 0], [j, j]).say(" × ").cell(rest[0], 0, j);
    const bias = op.bias && rest[rest.length - 1];
    if (bias) line.touch(bias, [0, 0], [j, j]).say(" + ").cell(bias, 0, j);
  },
};

// The same as a formula, with the rows' and columns' own names: shown for a kept cell.
export function formula(matrices, matrix, i, j) {
  const op = matrix.op;
  if (!op) return "";
  const [a, b, ...rest] = op.of.map((name) => matrices.get(name));
  const row = matrix.rowLabels[i]?.trim() || String(i);
  const col = matrix.colLabels[j]?.trim() || String(j);
  const cell = (m, r = row, c = col) => `${m.label}[${r}, ${c}]`;
  const same = (m) => cell(m, m.rows === 1 ? 0 : row, m.cols === 1 ? 0 : col);
  const bias = (m) => (m ? ` + ${cell(m, 0)}` : "");
  const right = {
    matmul: () => `Σₖ ${cell(a, row, "k")} · ${op.transpose_b ? cell(b, col, "k") : cell(b, "k")}${bias(rest[0])}`,
    scaled: () => `${cell(a)} ${op.text}`,
    masked: () => `${cell(a)} where allowed, else −∞`,
    softmax_rows: () => `exp(${cell(a)}) / Σₖ exp(${cell(a, row, "k")})`,
    rows_normalised: () => `${cell(a)} / Σₖ ${cell(a, row, "k")}`,
    add: () => [a, b, ...rest].map(same).join(" + "),
    multiply: () => `${same(a)} × ${same(b)}`,
    lookup: () => cell(a, op.rows[i]),
    columns: () => cell(a, row, op.start + j),
    transposed: () => cell(a, col, row),
    dropout: () => `${cell(a)} / (1 − p) where kept, else 0`,
    turned: () => {
      const half = a.cols / 2;
      const angle = `(${cell(b, row, j % half)})`;
      return `${cell(a)}·cos${angle} ${j < half ? "−" : "+"} ${cell(a, row, j < half ? j + half : j - half)}·sin${angle}`;
    },
    picked: () => cell(a, row, a.colLabels[op.columns[i]]?.trim() ?? op.columns[i]),
    summed: () => `Σₖ ${cell(a, "k", col)}`,
    subtracted: () => `${same(a)} − ${same(b)}`,
    lengths: () => `√ Σₖ ${cell(a, row, "k")}²`,
    row_summed: () => `Σₖ ${cell(a, row, "k")}`,
    divided: () => `${same(a)} ÷ ${same(b)}`,
    function: () => `${op.text}(${cell(a)})`,
    normalised: () => `(${cell(a)} − mean) / deviation${op.gain ? " × gain" : ""}${op.bias ? " + bias" : ""}`,
  }[op.kind];
  const norm = NORM_FORMULAS[op.kind]?.(op, [a, b, ...rest], cell, row);
  return right || norm ? `${cell(matrix)} = ${norm ?? right()}` : "";
}

function band(size, k) {
  return size === 1 ? [0, 0] : [k, k];
}

export function at(matrix, i, j) {
  return matrix.values[i * matrix.cols + j];
}

// The shortest decimals that say the number: two at least, `digits` at most.
function plain(x, digits) {
  if (!Number.isFinite(x)) return number(x, 2);
  for (let d = 2; d < digits; d++) {
    if (Math.abs(Number(x.toFixed(d)) - x) < 2e-7 * Math.max(1, Math.abs(x))) return number(x, d);
  }
  return number(x, digits);
}
