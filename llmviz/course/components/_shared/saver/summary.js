// What a picture's tables say in words, for who does not see it: how large, the extremes, where a row goes.
// Runs in Node, too, where it is tested.

import { local } from "../numbers.js";
import { worded } from "../worded.js";

const ENOUGH = 5; // numbers in order, from which on a trend is said
const TABLES = 4; // of which so much is said
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

// Four digits that count.
export function shown(value) {
  return isNumber(value) ? local(String(Number(value.toPrecision(4)))) : String(value ?? "");
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
  if (steps.every((step) => step === 0)) return worded("stays the same");
  if (steps.every((step) => step >= 0)) return worded("never falls");
  if (steps.every((step) => step <= 0)) return worded("never rises");
  const turn = values.at(-1) - values[0];
  if (turn === 0) return worded("ends where it began");
  return turn > 0 ? worded("ends higher, not in a straight way") : worded("ends lower, not in a straight way");
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
  const sizes = { rows: table.rows.length, count: numbers.length };
  const size = sizes.rows === 1 ? worded("1 row, {count} numbers.", sizes) : worded("{rows} rows, {count} numbers.", sizes);
  const said = [`${table.title ? `${table.title}: ` : ""}${size}`];
  if (!numbers.length) return said;
  const most = numbers.reduce((best, one) => (one.value > best.value ? one : best));
  const least = numbers.reduce((best, one) => (one.value < best.value ? one : best));
  const tied = (value) => numbers.filter((one) => one.value === value).length;
  const at = (one) => {
    const place = { value: shown(one.value), row: one.row, column: one.column, more: tied(one.value) - 1 };
    return place.more ? worded("{value} at {row}, {column} and {more} more", place) : worded("{value} at {row}, {column}", place);
  };
  if (most.value === least.value) said.push(worded("All are {value}.", { value: shown(most.value) }));
  else said.push(worded("The largest is {most}; the smallest is {least}.", { most: at(most), least: at(least) }));
  for (const { name, values } of columnsOf(table).slice(0, 3))
    said.push(
      worded("{name} goes from {first} to {last} and {course}.", {
        name,
        first: shown(values[0]),
        last: shown(values.at(-1)),
        course: course(values),
      }),
    );
  return said;
}

export function summary(tables) {
  const with_ = tables.filter((table) => table.rows.length);
  if (!with_.length) return worded("This picture has no table of numbers.");
  const rest = with_.length - TABLES;
  const said = with_.slice(0, TABLES).flatMap(sentencesOf);
  if (rest > 0) said.push(rest === 1 ? worded("1 more table.") : worded("{count} more tables.", { count: rest }));
  return said.join(" ");
}
