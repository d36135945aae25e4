// What a recorded run says of a tick: which request holds which block, its state, its text.

const COLOURS = 8; // kinds of the theme

// The value of a list of [tick, value] that holds at a tick; undefined before the first.
export function latest(changes, at) {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (changes[middle][0] <= at) low = middle + 1;
    else high = middle;
  }
  return low ? changes[low - 1][1] : undefined;
}

// For each block the requests that hold it, each with how many of its slots that one uses.
export function ownersOf({ sequences, blocks, blockSize }, at) {
  const owners = Array.from({ length: blocks }, () => []);
  sequences.forEach((one, sequence) => {
    const length = latest(one.lengths, at) ?? 0;
    (latest(one.tables, at) ?? []).forEach((block, place) => {
      owners[block].push([sequence, slotsUsed(length, place, blockSize)]);
    });
  });
  return owners;
}

// How many slots of the block at a place of a table have a token.
export function slotsUsed(length, place, blockSize) {
  return Math.max(0, Math.min(blockSize, length - place * blockSize));
}

// What a request has written up to a tick; while a beam search goes on, the text of a hypothesis.
export function textAt({ pieces, texts }, at) {
  let text = "";
  for (const [tick, piece] of pieces) {
    if (tick > at) break;
    text += piece;
  }
  return text || (latest(texts, at) ?? "");
}

// The state of each request at each tick, by its number among `stateNames`.
export function allStates({ sequences, ticks, stateNames }) {
  const number = Object.fromEntries(stateNames.map((name, i) => [name, i]));
  const cells = sequences.map(() => new Uint8Array(ticks.length));
  const begun = sequences.map(() => false);
  const over = sequences.map(() => false);
  ticks.forEach((tick, at) => {
    const rest = (sequence) => (over[sequence] ? number.over : begun[sequence] ? number.idle : number.away);
    sequences.forEach((_, sequence) => (cells[sequence][at] = rest(sequence)));
    for (const sequence of tick.preempted) begun[sequence] = true; // also a sample that had no row yet
    for (const sequence of tick.waiting) cells[sequence][at] = begun[sequence] ? number.preempted : number.waiting;
    for (const sequence of tick.swapped) cells[sequence][at] = number.swapped;
    for (const [sequence, phase] of tick.rows) {
      cells[sequence][at] = number.prefill + phase;
      begun[sequence] = true;
    }
    for (const sequence of tick.finished) over[sequence] = true;
  });
  return { of: (sequence) => cells[sequence], at: (sequence, tick) => stateNames[cells[sequence][tick]] };
}

// The number of each request's colour: of those in the batch at one time as few as can be are alike.
export function coloursOf({ sequences, ticks }) {
  const spans = sequences.map(() => null);
  ticks.forEach((tick, at) => {
    for (const [sequence] of tick.rows) spans[sequence] = [spans[sequence]?.[0] ?? at, at];
  });
  const free = Array(COLOURS).fill(-1); // until when each colour is taken
  const colours = sequences.map((_, sequence) => sequence % COLOURS);
  const order = sequences.map((_, sequence) => sequence).filter((sequence) => spans[sequence]);
  order.sort((a, b) => spans[a][0] - spans[b][0] || a - b);
  for (const sequence of order) {
    const longest = free.indexOf(Math.min(...free));
    colours[sequence] = longest;
    free[longest] = spans[sequence][1];
  }
  return colours;
}
