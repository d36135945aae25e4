// The arithmetic of norms, cell by cell: means of rows, of their squares, roots, what is divided.

// As in arithmetic.js: `line` is written on, `of` are the operands of the cell (i, j).
export const NORMS = {
  row_mean(line, op, [a], i) {
    line.touch(a, [i, i], null).say("(");
    line.sum(a.cols, (k) => line.cell(a, i, k));
    line.say(`) ÷ ${a.cols}`);
  },

  row_mean_square(line, op, [a, mean], i) {
    line.touch(a, [i, i], null);
    if (mean) line.touch(mean, [i, i], [0, 0]);
    line.say("(");
    line.sum(a.cols, (k) => {
      if (mean) line.say("(").cell(a, i, k).say(" − ").cell(mean, i, 0).say(")²");
      else line.cell(a, i, k).say("²");
    });
    line.say(`) ÷ ${a.cols}`);
  },

  root(line, op, [a], i, j) {
    line.touch(a, [i, i], [j, j]).say("√(").cell(a, i, j).say(` + ${op.text})`);
  },

  rms_normalised(line, op, [a, root, gain], i, j) {
    line.touch(a, [i, i], [j, j]).touch(root, [i, i], [0, 0]);
    line.cell(a, i, j).say(" / ").cell(root, i, 0);
    if (gain) line.touch(gain, [0, 0], [j, j]).say(" × ").cell(gain, 0, j);
  },
};

// `cell` names a cell of a matrix; without places, that of the row and column asked for.
export const NORM_FORMULAS = {
  row_mean: (op, [a], cell, row) => `Σₖ ${cell(a, row, "k")} ÷ ${a.cols}`,
  row_mean_square: (op, [a, mean], cell, row) => {
    const one = cell(a, row, "k");
    return `Σₖ ${mean ? `(${one} − mean)` : one}² ÷ ${a.cols}`;
  },
  root: (op, [a], cell) => `√(${cell(a)} + ${op.text})`,
  rms_normalised: (op, [a, root, gain], cell) => `${cell(a)} / root mean square${gain ? " × gain" : ""}`,
};
