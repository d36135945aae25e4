// Places, ticks and figures of a drawn axis; what it shows is computed in Python.

import { number, power, whole } from "./common.js";

export function identity(x) {
  return x;
}

export function logarithm(x) {
  return Math.log10(Math.max(x, 1e-12));
}

export function segment(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

// The last place of a rising array whose value is not above x; −1 if there is none.
export function before(xs, x) {
  let [low, high] = [0, xs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x * (1 + 1e-7)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export function nearest(xs, x) {
  const i = before(xs, x);
  if (i < 0) return 0;
  return i + 1 < xs.length && xs[i + 1] - x < x - xs[i] ? i + 1 : i;
}

export function ticks([low, high], about, log) {
  const found = [];
  if (log) {
    const decades = Math.log10(high / Math.max(low, 1e-12));
    const steps = decades > about ? [1] : decades > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
    for (let power = Math.floor(logarithm(low)); power <= logarithm(high); power++)
      for (const step of steps) {
        const tick = step * 10 ** power;
        if (tick >= low && tick <= high) found.push(tick);
      }
    return found;
  }
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step)
    found.push(Math.abs(tick) < step / 1e6 ? 0 : tick);
  return found;
}

export function short(x) {
  const size = Math.abs(x);
  if (x === 0) return "0";
  if (size >= 1e6) return `${trim(x / 1e6)}M`;
  if (size >= 1e4) return `${trim(x / 1e3)}k`;
  if (size >= 1000) return whole(Math.round(x));
  if (size < 1e-3) return power(x);
  return trim(x).replace("-", "−");
}

function trim(x) {
  return String(Number(x.toPrecision(3)));
}

export function figure(x) {
  if (!Number.isFinite(x)) return "–";
  return Math.abs(x) >= 1e5 ? power(x) : number(x, Math.abs(x) >= 100 ? 1 : 3);
}

export function tiny(x) {
  return x !== 0 && Math.abs(x) < 1e-3 ? power(x) : trim(x);
}
