// What a picture's tables say in words, for who does not see it: how large, the extremes, where a row goes.
// Runs in Node, too, where it is tested.

const ENOUGH = 5; // numbers in order, from which on a trend is said
const TABLES = 4; // of which so much is said
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

// Four digits that count.
export function short(value) {
  return isNumber(value) ? String(Number(value.toPrecision(4))) : String(value ?? "");
}

// All numbers of a table with their place: the head of the column and the first cell of the row. Where the
// first column has no head, it names the rows and is no number of the picture.
function numbersOf({ head, rows }) {
  const named = head?.[0] === "";
  return rows.flatMap((row, r) =>
    row.flatMap((value, c) => {
      if (!isNumber(value) || (named && c === 0)) return [];
      return [{ value, row: named ? String(row[0]) : String(r), column: String(head?.[c] ?? c) }];
    }),
  );
}

// How a column of numbers goes, from its first to its last one.
function course(values) {
  const steps = values.slice(1).map((value, i) => value - values[i]);
  if (steps.every((step) => step === 0)) return "stays the same";
  if (steps.every((step) => step >= 0)) return "never falls";
  if (steps.every((step) => step <= 0)) return "never rises";
  const turn = values.at(-1) - values[0];
  return turn > 0 ? "ends higher, not in a straight way" : turn < 0 ? "ends lower, not in a straight way" : "ends where it began";
}

function columnsOf({ head, rows }) {
  if (!head || head[0] === "") return [];
  return head.flatMap((name, c) => {
    const values = rows.map((row) => row[c]).filter(isNumber);
    return values.length >= ENOUGH && values.length === rows.length ? [{ name, values }] : [];
  });
}

function sentencesOf(table) {
  const numbers = numbersOf(table);
  const size = `${table.rows.length} ${table.rows.length === 1 ? "row" : "rows"}, ${numbers.length} numbers`;
  const said = [`${table.title ? `${table.title}: ` : ""}${size}.`];
  if (!numbers.length) return said;
  const most = numbers.reduce((best, one) => (one.value > best.value ? one : best));
  const least = numbers.reduce((best, one) => (one.value < best.value ? one : best));
  const tied = (value) => numbers.filter((one) => one.value === value).length;
  const at = (one) => {
    const more = tied(one.value) - 1;
    return `${short(one.value)} at ${one.row}, ${one.column}${more ? ` and ${more} more` : ""}`;
  };
  if (most.value === least.value) said.push(`All are ${short(most.value)}.`);
  else said.push(`The largest is ${at(most)}; the smallest is ${at(least)}.`);
  for (const { name, values } of columnsOf(table).slice(0, 3))
    said.push(`${name} goes from ${short(values[0])} to ${short(values.at(-1))} and ${course(values)}.`);
  return said;
}

export function summary(tables) {
  const with_ = tables.filter((table) => table.rows.length);
  if (!with_.length) return "This picture has no table of numbers.";
  const rest = with_.length - TABLES;
  const said = with_.slice(0, TABLES).flatMap(sentencesOf);
  return said.concat(rest > 0 ? `${rest} more ${rest === 1 ? "table" : "tables"}.` : []).join(" ");
}
