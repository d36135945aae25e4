// What stands in a cell: a number that is true to the digits shown and has room there.

import { fixed, number } from "./numbers.js";

// A number with so many decimals; from 10 on fewer, as its whole part says enough.
function digitsOf(value, decimals) {
  const size = Math.abs(value);
  return fixed(value, size >= 100 ? 0 : size >= 10 ? Math.min(1, decimals) : decimals);
}

// How many decimals a matrix's numbers have, at most `most`, so that the widest fits its cell.
export function decimalsFor(values, most, letters) {
  let [low, high] = [0, 0];
  for (const value of values) {
    if (value > high) high = value;
    else if (value < low && value !== -Infinity) low = value;
  }
  // Below 10 there is a decimal more than above.
  const ends = [low, high, Math.max(low, -9.99), Math.min(high, 9.99)];
  const widest = Math.max(...ends.map((value) => digitsOf(value, most).length));
  return Math.max(0, most - Math.max(0, widest - letters));
}

// A number that would show only zeros is written in another way: 4.0·10⁻⁴, .0004, 4e−4 or ≈0,
// the first that has room. So 0.00 is exactly nothing. Beside `limit`, the matrix's largest number,
// a millionth is always ≈0: its own digits would only fill the picture.
export function cellText(value, decimals, letters, limit) {
  const size = Math.abs(value);
  if (!value || size >= 0.5 * 10 ** -decimals) return digitsOf(value, decimals);
  if (size < 1e-6 * limit) return "≈0";
  const power = decimals > 1 ? [number(value, decimals)] : [];
  const short = [value.toPrecision(1).replace("0.", "."), value.toExponential(0)];
  const ways = [...power, ...short.map((text) => text.replaceAll("-", "−"))];
  return ways.find((text) => text.length <= letters) ?? "≈0";
}
