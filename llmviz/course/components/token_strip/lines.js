// Where characters stand in the aligned grid: how many cells each takes, where lines break.

// A character that token borders cut is given more room: a cell for each of its pieces.
export function cellsOf(data, starts) {
  const cells = Uint8Array.from(data.wide, (wide) => 1 + wide);
  for (const row of data.rows) {
    const cuts = new Map();
    for (const edge of row.byteStart) {
      const c = characterAt(starts, edge);
      if (starts[c] !== edge) cuts.set(c, (cuts.get(c) ?? 1) + 1);
    }
    for (const [c, pieces] of cuts) cells[c] = Math.max(cells[c], pieces);
  }
  return cells;
}

// The character that holds a byte, by bisection.
export function characterAt(starts, byte) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= byte) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Lines end after a newline, else before the last space that fits (most tokens begin with
// theirs), else at the edge.
export function breakLines(characters, cells, columns) {
  const lines = [];
  let from = 0;
  while (from < characters.length) {
    let used = 0;
    let to = from;
    let space = -1;
    while (to < characters.length && used + cells[to] <= Math.max(columns, cells[to])) {
      used += cells[to];
      to += 1;
      if (characters[to - 1] === "⏎") break;
      if (characters[to - 1] === "·") space = to - 1;
    }
    const ended = to === characters.length || characters[to - 1] === "⏎";
    if (!ended && space > from + columns / 3) to = space;
    const left = [];
    let at = 0;
    for (let c = from; c < to; c++) {
      left.push(at);
      at += cells[c];
    }
    lines.push({ from, to, left, end: at });
    from = to;
  }
  return lines;
}
