// Names on a map, each only where it covers no other: first what was asked for, then what was named
// in the last picture, so that names do not flicker, then the others kind by kind.

export const MAP = { pad: 26, left: 60, bottom: 34, top: 10, right: 14 };
const NAMES = 110; // at most so many
const FEW = 60; // points up to which those of no colour are named, too

export class NameLayer {
  constructor(map) {
    this.map = map;
    this.widths = new Map();
    this.drawn = [];
    this.order = [];
  }

  // One word of every kind, then another of every kind: no kind takes all the room.
  take(data) {
    const tally = new Map();
    const rank = [...data.kinds].map((kind) => {
      const r = tally.get(kind) ?? 0;
      tally.set(kind, r + 1);
      return r;
    });
    this.order = rank.map((_, i) => i).sort((a, b) => rank[a] - rank[b] || a - b);
    if (this.drawn.some((i) => i >= rank.length)) this.drawn = [];
  }

  draw(pen, say) {
    const wanted = new Map(); // point: how loud
    const add = (i, loud) => i >= 0 && !wanted.has(i) && wanted.set(i, loud);
    add(say.hover, 2);
    for (const near of say.chosen) add(near.point, 2);
    for (const near of say.chosen) for (const j of neighbourRow(near.ids, say.step)) add(j, 1);
    for (const near of say.chosen) for (const j of near.false ? neighbourRow(near.false, say.step) : []) add(j, 1);
    if (say.matches) for (const i of [...say.matches].slice(0, 40)) add(i, 2);
    else {
      const { kinds, shade } = this.map.data;
      const may = (i) => shade || kinds.length <= FEW || !say.lit.size || say.lit.has(kinds[i]);
      for (const i of this.drawn) if (may(i)) add(i, 0);
      for (const i of this.order) if (may(i)) add(i, 0);
    }
    const boxes = [];
    const placed = [];
    pen.textBaseline = "middle";
    for (const [i, loud] of wanted) {
      if (placed.length >= NAMES) break;
      const box = this.box(pen, i, loud);
      if (!box) continue;
      const free = boxes.every((b) => box[2] < b[0] || box[0] > b[2] || box[3] < b[1] || box[1] > b[3]);
      if (!free && loud < 2) continue;
      boxes.push(box);
      placed.push(i);
      this.write(pen, i, loud, box, say.chosen.length > 0);
    }
    this.drawn = placed;
  }

  box(pen, i, loud) {
    const { px, py, width, height, data } = this.map;
    const [x, y] = [px[i], py[i]];
    if (x < MAP.left || x > width - MAP.right || y < MAP.top || y > height - MAP.bottom) return null;
    pen.font = loud > 1 ? this.map.bold : this.map.font;
    const key = `${loud > 1}${i}`;
    if (!this.widths.has(key)) this.widths.set(key, Math.min(140, pen.measureText(data.labels[i]).width));
    const wide = this.widths.get(key);
    const right = x + 8 + wide <= width - 2;
    return right ? [x + 7, y - 7, x + 9 + wide, y + 7, "left"] : [x - 9 - wide, y - 7, x - 7, y + 7, "right"];
  }

  write(pen, i, loud, box, focus) {
    const { colors, data, py } = this.map;
    const x = box[4] === "left" ? box[0] + 1 : box[2] - 1;
    pen.font = loud > 1 ? this.map.bold : this.map.font;
    pen.textAlign = box[4];
    pen.lineWidth = 3;
    pen.lineJoin = "round";
    pen.strokeStyle = colors.paper;
    pen.globalAlpha = 0.85;
    pen.strokeText(data.labels[i], x, py[i], 140);
    pen.globalAlpha = loud ? 1 : focus ? 0.55 : 0.85;
    pen.fillStyle = colors.ink;
    pen.fillText(data.labels[i], x, py[i], 140);
    pen.globalAlpha = 1;
  }
}

// The neighbours of a chosen point at one frame.
export function neighbourRow(table, step) {
  const k = table.shape[1];
  return table.subarray(step * k, (step + 1) * k);
}
