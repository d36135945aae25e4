// Where everything in the machine stands. Layout only: no number of the model is computed here.

export const SIZES = { head: 56, id: 38, tile: 16, entry: 25, loop: 48, foot: 24 };
// With more layers, or where they would not fit, those that are not open are folded: narrow, without
// ports, lens and legend.
const MOST_UNFOLDED = 6;
const LEAST = { open: 100, closed: 24 }; // of the room for curves in a layer that is not folded
const FOLDED = { edge: 1, room: 15, tile: 7, between: 2 };
const THIN = 16; // pixels: a folded layer that is narrower is a strip, without a title of its own
const NUMBER = 18; // pixels that a folded layer's number takes
// Inside a layer, from its left edge: key and value ports, room for curves, query port and lens,
// tile. Right of the last layer: fan, scores, bars, percentages.
const GAPS = { ports: 14, query: 9, lens: 21, tile: 5, edge: 7, between: 6, fan: 42, score: 36, bar: 96, share: 62, open: 130 };
// The same where there is little room: the scores are left out, and vectors are drawn narrower.
const TIGHT = { ports: 12, query: 6, lens: 16, tile: 3, edge: 4, between: 4, fan: 22, score: 0, bar: 76, share: 56, open: 72 };
const TIGHT_BELOW = 760;
const TIGHT_VECTOR = 32;

// The plan of the picture for a width in pixels; `open` says of each layer how wide open it is (0..1).
export function makePlan(data, width, open) {
  const rows = data.rows.length;
  const tight = width < TIGHT_BELOW;
  const p = { tight, rows, chip: tight ? 84 : 92 };
  p.pitch = Math.max(30, Math.min(40, 300 / rows));
  p.top = SIZES.head + (data.rows[0].position ? 24 : 8);
  p.y = (row) => (row < 0 ? p.top - 12 : p.top + p.pitch * (row + 0.5));
  p.ids = p.chip + SIZES.id;
  const v = data.values;
  const listed = v ? v.top_ids.shape[1] + 1 : 0;
  p.entry = Math.max(SIZES.entry, (p.pitch * rows) / Math.max(1, listed));
  p.entryY = (k) => p.top + p.entry * (k + 0.5);
  p.bottom = p.top + Math.max(p.pitch * rows, p.entry * listed);
  p.foot = p.bottom + 15;
  p.loop = p.bottom + SIZES.foot + SIZES.loop / 2;
  p.height = v ? p.loop + SIZES.loop / 2 : p.bottom + 8;
  if (!v) return { ...p, width, layers: [] };

  const size = v.vectors.shape[2];
  p.cellRows = size <= 384 ? 8 : 16;
  p.cellColumns = Math.ceil(size / p.cellRows);
  p.tile = p.cellColumns * Math.max(1, Math.round(24 / p.cellColumns));
  if (tight) p.tile = Math.min(p.tile, 18);
  p.vector = tight ? TIGHT_VECTOR : 2 * p.tile;
  p.vectorX = p.ids + (tight ? 8 : 16);

  const g = tight ? TIGHT : GAPS;
  const count = v.weights.shape[0];
  const inside = g.ports + g.query + g.lens + g.tile + p.tile + g.edge;
  const start = p.vectorX + p.vector + 8;
  const ends = start + g.fan + g.score + g.bar + g.share;
  const unfolded = ends + count * (inside + g.between) + LEAST.open + (count - 1) * LEAST.closed;
  p.folds = count > MOST_UNFOLDED || (count > 1 && unfolded > width);
  const free = width - ends - (p.folds ? inside + g.between : count * (inside + g.between));
  // All folded layers together have the room that is left: with many of them each is a thin strip.
  const most = 2 * FOLDED.edge + FOLDED.room + FOLDED.tile + FOLDED.between;
  const small = Math.max(2.5, Math.min(most, (free - g.open) / Math.max(1, count - 1)));
  const fold = Object.fromEntries(Object.entries(FOLDED).map(([part, size]) => [part, (size * small) / most]));
  p.strips = p.folds && small < THIN;
  p.every = Math.ceil(NUMBER / small);
  const closed = p.folds ? fold.room : Math.max(LEAST.closed, Math.min(46, free * 0.15));
  const wide = Math.max(p.folds ? g.open : LEAST.open, free - (count - 1) * (p.folds ? small : closed));
  let x = start;
  p.layers = Array.from({ length: count }, (_, l) => {
    // How much of its parts a layer shows: all of them, or less the more it is folded.
    const shown = p.folds ? open[l] : 1;
    const part = (whole, folded) => folded + (whole - folded) * shown;
    const room = closed + (wide - closed) * open[l];
    const from = x + part(g.ports, fold.edge);
    const layer = { x, shown, from, to: from + room, width: part(p.tile, fold.tile) };
    layer.thick = Math.min(1, room / FOLDED.room); // how much of its thickness a curve has
    layer.join = layer.to + part(g.query, 0);
    layer.lens = layer.join + part(g.lens, 0) / 2;
    layer.tile = layer.join + part(g.lens, 0) + part(g.tile, 0);
    layer.end = layer.tile + layer.width + part(g.edge, fold.edge);
    x = layer.end + part(g.between, fold.between);
    return layer;
  });
  p.fan = p.layers[count - 1].end + 2;
  p.list = p.fan + g.fan;
  p.bars = p.list + g.score;
  p.barWidth = g.bar;
  p.shares = p.bars + g.bar + g.share - 15;
  p.width = Math.max(width, p.bars + g.bar + g.share);
  return p;
}

// A curve that leaves and arrives level.
export function bend(x0, y0, x1, y1) {
  const half = (x0 + x1) / 2;
  return `M${x0} ${y0}C${half} ${y0} ${half} ${y1} ${x1} ${y1}`;
}

// Where such a curve is at a given x: its x runs evenly enough to be searched by halving.
export function bendY(x0, y0, x1, y1, x) {
  const half = (x0 + x1) / 2;
  let low = 0;
  let high = 1;
  for (let i = 0; i < 18; i++) {
    const t = (low + high) / 2;
    const u = 1 - t;
    const at = u * u * u * x0 + 3 * u * t * half + t * t * t * x1;
    if (at < x) low = t;
    else high = t;
  }
  const t = (low + high) / 2;
  return y0 + (y1 - y0) * t * t * (3 - 2 * t);
}

// A band of even thickness between two heights.
export function ribbon(x0, y0, x1, y1, thick) {
  const half = (x0 + x1) / 2;
  const [a, b] = [y0 + thick, y1 + thick];
  return `M${x0} ${y0}C${half} ${y0} ${half} ${y1} ${x1} ${y1}V${b}C${half} ${b} ${half} ${a} ${x0} ${a}Z`;
}

// A lens on the row's line; its area is a share of the largest one's.
export function lens(x, y, share) {
  const wide = 10 * Math.sqrt(share);
  const high = 22 * Math.sqrt(share);
  return `M${x - wide} ${y}Q${x} ${y - high} ${x + wide} ${y}Q${x} ${y + high} ${x - wide} ${y}Z`;
}

// The value that 19 of 20 stay below in size: the ends of a column's colours.
export function reach(values) {
  const sizes = Float32Array.from(values, Math.abs).sort();
  return sizes[Math.min(sizes.length - 1, Math.floor(0.95 * sizes.length))] || 1;
}

export function norm(values) {
  let sum = 0;
  for (const v of values) sum += v * v;
  return Math.sqrt(sum);
}
