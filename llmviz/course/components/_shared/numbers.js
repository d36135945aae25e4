// Numbers as text: with a true minus sign, and as many digits as their size asks for.

const INTEGER = new Intl.NumberFormat("en-US");
// By language what it writes for the comma and the point of English, and behind a percentage.
const LOCAL_SIGNS = new Map([["en", { ",": ",", ".": ".", "%": " %" }]]);
const RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";

// A number that is written in English, as the page's language writes it.
export function local(written) {
  const here = localSigns();
  return here["."] === "." ? written : written.replace(/[,.]/g, (sign) => here[sign]);
}

function localSigns() {
  const language = globalThis.document?.documentElement.lang || globalThis.llmvizSite?.language || "en";
  if (!LOCAL_SIGNS.has(language)) {
    const parts = new Intl.NumberFormat(language, { useGrouping: "always" }).formatToParts(1234.5);
    const sign = (type) => parts.find((part) => part.type === type).value;
    const percent = new Intl.NumberFormat(language, { style: "percent" }).format(0).slice(1);
    LOCAL_SIGNS.set(language, { ",": sign("group"), ".": sign("decimal"), "%": percent });
  }
  return LOCAL_SIGNS.get(language);
}

export function whole(n) {
  return local(INTEGER.format(n));
}

// With a fixed number of decimals.
export function fixed(x, digits) {
  return local(x.toFixed(digits).replace("-", "−"));
}

// With so many decimals; tiny and huge ones keep their leading digits.
export function number(x, digits) {
  if (x === Infinity) return "∞";
  if (x === -Infinity) return "−∞";
  const size = Math.abs(x);
  if ((size !== 0 && size < 0.5 * 10 ** -digits) || size >= 1e6) return power(x).replace("-", "−");
  return fixed(x, size >= 1000 ? Math.min(digits, 1) : digits);
}

// 1.2·10⁻⁵
export function power(x) {
  const [mantissa, exponent] = x.toExponential(1).split("e");
  return `${local(mantissa)}·${powerOfTen(exponent)}`;
}

// 10⁻⁵
export function powerOfTen(exponent) {
  return powerOf(10, exponent);
}

// 2⁻⁵
export function powerOf(base, exponent) {
  const digits = [...String(exponent).replace("+", "")];
  return `${base}${digits.map((digit) => RAISED["-0123456789".indexOf(digit)]).join("")}`;
}

// For the ticks of an axis: three digits, thousands as k and millions as M.
export function short(x) {
  const size = Math.abs(x);
  if (x === 0) return "0";
  if (size >= 1e6) return `${threeDigits(x / 1e6)}M`;
  if (size >= 1e4) return `${threeDigits(x / 1e3)}k`;
  if (size >= 1000) return whole(Math.round(x));
  if (size < 1e-3) return power(x);
  return threeDigits(x).replace("-", "−");
}

function threeDigits(x) {
  return local(String(Number(x.toPrecision(3))));
}

// A measured value beside a chart.
export function figure(x) {
  if (!Number.isFinite(x)) return "–";
  return Math.abs(x) >= 1e5 ? power(x) : number(x, Math.abs(x) >= 100 ? 1 : 3);
}

// A learning rate.
export function tiny(x) {
  return x !== 0 && Math.abs(x) < 1e-3 ? power(x) : threeDigits(x);
}

// A share from 0 to 1.
export function percent(share, digits = 1) {
  return `${local((100 * share).toFixed(digits))}${localSigns()["%"]}`;
}

// A probability: small ones have more digits, and only 0 is written as 0.
export function chance(p) {
  if (p === 0) return `0${localSigns()["%"]}`;
  if (100 * p < 0.01) return `< ${local("0.01")}${localSigns()["%"]}`;
  if (100 * p >= 99.995) return `100${localSigns()["%"]}`;
  return percent(p, 100 * p < 9.995 ? 2 : 1);
}
