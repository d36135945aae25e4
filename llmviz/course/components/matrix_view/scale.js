// The scale of a matrix's colours, which is always drawn.

import { el } from "../_shared/common.js";
import { number } from "../_shared/numbers.js";

export function scaleOf(m) {
  const line = el("div", "scale num");
  const ends = m.scale === "diverging" ? [-m.limit, m.limit] : [0, m.limit];
  const digits = Math.min(m.digits, m.limit >= 10 ? 0 : m.limit >= 1 ? 1 : 2);
  const ramp = el("span", "ramp");
  const from = m.scale === "diverging" ? `var(--lv-${m.role}-neg), ` : "";
  ramp.style.background = `linear-gradient(90deg, ${from}var(--paper), var(--lv-${m.role}-pos))`;
  line.append(el("span", null, number(ends[0], digits)), ramp, el("span", null, number(ends[1], digits)));
  return line;
}
