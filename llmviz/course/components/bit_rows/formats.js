// Numbers as bits, as `llmviz/quantization/formats.py` has them: a format is its widths, a pattern
// of bits is a whole number. A test holds both against each other.

const cells = new DataView(new ArrayBuffer(8));

// The e of 2^e ≤ |x| < 2^(e + 1); of what is smaller than every format here, a low one.
function exponentOf(x) {
  cells.setFloat64(0, x);
  return ((cells.getUint32(0) >>> 20) & 2047) - 1023;
}

// The nearest whole number; of two equally near the even one.
function toEven(x) {
  const low = Math.floor(x);
  const part = x - low;
  return part > 0.5 || (part === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

function bias(format) {
  return 2 ** (format.exponent - 1) - 1;
}

// The pattern of the largest finite number.
function largest(format) {
  const ones = 2 ** (format.bits - 1) - 1;
  return format.infinity ? ones - 2 ** format.mantissa : ones - 1;
}

function isNegative(x) {
  return x < 0 || Object.is(x, -0);
}

// The pattern of the nearest number of a format; null where it has none (NaN as an integer).
export function encode(format, value) {
  if (!format.exponent) return encodeWhole(format, value);
  const sign = isNegative(value) ? 2 ** (format.bits - 1) : 0;
  const most = largest(format) + (format.infinity ? 1 : 0);
  if (Number.isNaN(value)) return largest(format) + (format.infinity ? 1 + 2 ** (format.mantissa - 1) : 1);
  const size = Math.abs(value);
  if (size === Infinity) return sign + most;
  const least = 1 - bias(format);
  const exponent = Math.max(exponentOf(size), least);
  const steps = toEven(size * 2 ** (format.mantissa - exponent));
  return sign + Math.min((exponent - least) * 2 ** format.mantissa + steps, most);
}

function encodeWhole(format, value) {
  if (Number.isNaN(value)) return null;
  const half = 2 ** (format.bits - 1);
  const held = Math.min(half - 1, Math.max(-half, toEven(value)));
  return held < 0 ? held + 2 * half : held;
}

// Sign, exponent and mantissa of a pattern, as whole numbers.
export function fields(format, bits) {
  const rest = bits % 2 ** (format.bits - 1);
  const sign = bits >= 2 ** (format.bits - 1) ? 1 : 0;
  return { sign, exponent: Math.floor(rest / 2 ** format.mantissa), mantissa: rest % 2 ** format.mantissa };
}

// What a pattern is: zero, subnormal, normal, infinite, nan or whole, and its e.
export function kindOf(format, bits) {
  if (!format.exponent) return { kind: "whole", power: 0 };
  const { exponent, mantissa } = fields(format, bits);
  const power = Math.max(exponent, 1) - bias(format);
  const highest = exponent === 2 ** format.exponent - 1;
  if (highest && format.infinity) return { kind: mantissa ? "nan" : "infinite", power };
  if (highest && mantissa === 2 ** format.mantissa - 1) return { kind: "nan", power };
  if (exponent) return { kind: "normal", power };
  return { kind: mantissa ? "subnormal" : "zero", power };
}

// The value of a pattern.
export function decode(format, bits) {
  if (!format.exponent) return wholeOf(format, bits);
  const { sign, exponent, mantissa } = fields(format, bits);
  const { kind, power } = kindOf(format, bits);
  if (kind === "nan") return NaN;
  const stored = (exponent ? 2 ** format.mantissa : 0) + mantissa;
  const size = kind === "infinite" ? Infinity : stored * 2 ** (power - format.mantissa);
  return sign ? -size : size;
}

// The whole number of an integer's pattern.
export function wholeOf(format, bits) {
  const half = 2 ** (format.bits - 1);
  return bits < half ? bits : bits - 2 * half;
}

// How far the next number is; null for infinity and NaN.
export function spacing(format, bits) {
  const { kind, power } = kindOf(format, bits);
  if (kind === "whole") return 1;
  return kind === "infinite" || kind === "nan" ? null : 2 ** (power - format.mantissa);
}

// Whether a pattern is the largest number of its format, of either sign, which none follows.
export function isLast(format, bits) {
  const half = 2 ** (format.bits - 1);
  return format.exponent ? bits % half === largest(format) : bits === half - 1 || bits === half;
}

// What becomes of a value that is held as a pattern: exact, rounded, vanishes or overflows.
export function fate(format, value, bits) {
  const held = decode(format, bits);
  if (held === value || (Number.isNaN(held) && Number.isNaN(value))) return "exact";
  const size = Math.abs(value);
  if (!format.exponent) {
    if (toEven(value) !== wholeOf(format, bits)) return "overflows";
  } else if (format.infinity ? Math.abs(held) === Infinity : size > Math.abs(held) + spacing(format, bits) / 2) {
    return "overflows";
  }
  return held === 0 ? "vanishes" : "rounded";
}
