// Where a point of a curve stands: the axes of a picture of runs, and what of them is seen.

import { css } from "../_shared/common.js";

export const COLOURS = ["loss", "query", "value", "weights", "accent", "residual"];
const DASHES = [[], [7, 3], [2, 2.5], [9, 3, 2, 3]];
export const LEFT = 54;
export const RIGHT = 12;
export const GAP = 26;
export const SMALL = 64;

export class CurvePlane {
  // The runs that are drawn: the hand may hide all but the one that the scrubber goes through.
  drawn() {
    return this.data.runs.filter((run, r) => r === this.data.main || !this.hidden.has(run.name));
  }

  extent() {
    if (this.zoom) return this.zoom;
    let [low, high] = [Infinity, -Infinity];
    for (const run of this.drawn()) {
      for (let i = 0; i < run.x.length; i++) {
        if (run.x[i] < low && (!this.view.logx || run.x[i] > 0)) low = run.x[i];
        if (run.x[i] > high) high = run.x[i];
      }
    }
    if (!(high > low)) return [Number.isFinite(low) ? Math.min(low, high - 1) : 0, Number.isFinite(high) ? high + 1 : 1];
    return [this.view.logx ? low : Math.min(low, high / 50), high];
  }

  colour(run) {
    return (
      css(this.root, `--lv-${COLOURS[run.colour % COLOURS.length]}-text`) || css(this.root, `--lv-${COLOURS[run.colour % COLOURS.length]}`)
    );
  }

  dash(run) {
    return DASHES[Math.floor(run.colour / COLOURS.length) % DASHES.length];
  }

  visible(run, xs = run.x) {
    const [low, high] = this.range;
    let [first, end] = [0, xs.length];
    while (first < end && xs[first] < low) first++;
    while (end > first && xs[end - 1] > high) end--;
    return [Math.max(0, first - 1), Math.min(xs.length, end + 1)];
  }

  spread(arrays, positive) {
    let [low, high] = [Infinity, -Infinity];
    for (const [xs, ys, run] of arrays) {
      const [first, end] = this.visible(run, xs);
      for (let i = first; i < end; i++) {
        const y = ys[i];
        if (!Number.isFinite(y) || (positive && y <= 0)) continue;
        if (y < low) low = y;
        if (y > high) high = y;
      }
    }
    return [low, high];
  }

  spanLoss() {
    const arrays = this.drawn().flatMap((run) => [
      [run.x, run.y, run],
      [run.vx, run.vy, run],
    ]);
    let [low, high] = this.spread(arrays, this.view.logy);
    if (!Number.isFinite(low)) return [0, 1];
    const size = high - low || Math.abs(high) || 1;
    for (const line of this.lines) {
      if (line.value > low - 0.7 * size && line.value < high + 0.3 * size) {
        low = Math.min(low, line.value);
        high = Math.max(high, line.value);
      }
    }
    const room = 0.05 * (high - low || size);
    return this.view.logy ? [low / 1.05, high * 1.05] : [low - room, high + room];
  }

  span(name) {
    const [, high] = this.spread(
      this.drawn().map((run) => [run.x, run[name], run]),
      false,
    );
    return [0, Number.isFinite(high) && high > 0 ? 1.08 * high : 1];
  }
}

// A loss in nats on the axis asked for; `bits` is what Python counted: bits a byte for each nat.
export function inUnit(nats, unit, bits) {
  if (unit === "nats") return nats;
  const values = new Float64Array(nats.length);
  for (let i = 0; i < values.length; i++) values[i] = unit === "bits" ? nats[i] * bits : Math.exp(nats[i]);
  return values;
}
