// A slider: where its thumb stands, and one with its name before it and its value behind it.

import { el } from "./common.js";

// A slider in a line with its name and its value. Its owner writes both, and says how many stops there are.
export function namedSlider() {
  const bar = el("div", "bar-line");
  const name = el("span", "name");
  const range = el("input", "scrub", null, { type: "range", min: 0, step: 1 });
  const value = el("output", "value num");
  bar.append(name, range, value);
  return { bar, name, range, value };
}

// Move the thumb of a slider of stops from 0 to `last`, and colour the track up to it.
export function moveThumb(range, stop, last) {
  range.value = stop;
  range.style.setProperty("--share", `${(100 * Math.max(0, stop)) / Math.max(1, last)}%`);
}
