// The numbers of a picture as tables, and tables as CSV.

// ---- CSV

// A spreadsheet computes what begins with one of these, in a text too. Numbers are written as numbers.
const COMPUTES = /^[=+\-@\t\r\n＝＋－＠]/;

export function csv(tables) {
  const lines = oneTable(tables.filter(({ rows }) => rows.length)).map((row) => `${row.map(cell).join(",")}\r\n`);
  return `\uFEFF${lines.join("")}`; // the mark tells spreadsheets that this is UTF-8
}

// One table with one line of names above it, as every program reads it: the picture's own where it has one, all
// below each other where their columns are the same, else a line for each number of each of them.
function oneTable(tables) {
  const heads = tables.map(headOf);
  if (tables.length < 2) return tables.flatMap(({ rows }) => [heads[0], ...rows]);
  if (heads.every((head) => String(head) === String(heads[0])))
    return [["table", ...heads[0]], ...tables.flatMap(({ title, rows }, t) => rows.map((row) => [title || t, ...row]))];
  const numbers = tables.flatMap(({ title, head, rows }, t) => {
    const names = head ? head.findIndex((name) => name !== "") : 0; // columns before it name the rows
    return rows.flatMap((row, r) =>
      row.slice(names).map((value, c) => [title || t, names ? row.slice(0, names).join(" · ") : r, heads[t][names + c], value]),
    );
  });
  return [["table", "row", "column", "value"], ...numbers];
}

function headOf({ head, rows }) {
  if (!head) return Array.from({ length: Math.max(...rows.map((row) => row.length)) }, (_, c) => String(c));
  return head.map((name, c) => (name === "" ? (c ? `row ${c + 1}` : "row") : name));
}

function cell(value) {
  if (typeof value === "number") return String(value);
  if (value === null || value === undefined) return "";
  const text = String(value);
  return `"${(COMPUTES.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

// ---- what a picture was sent, as tables

const SAID = new Set(["words", "$parts"]); // what the picture says, no numbers of it

export function tablesOf(data) {
  if (data.matrices) return data.matrices.map((one) => matrixTable(one, data)).filter(Boolean);
  if (data.half) return [halfTableOf(data)];
  return walk("", data);
}

// A cell that a question covers stays covered.
function matrixTable({ name, label, values, rowLabels, colLabels, hidden }, data) {
  const numbers = typeof values === "string" ? data[values] : values;
  if (!numbers?.shape) return null;
  const table = grid(label === name ? name : `${name}: ${label}`, numbers, rowLabels, colLabels);
  for (const [row, column] of hidden) table.rows[row][column + 1] = "?";
  return table;
}

function grid(title, numbers, rowLabels, colLabels) {
  const [rows, columns] = numbers.shape;
  const names = (labels, count) => (labels?.length === count ? labels : Array.from({ length: count }, (_, i) => i));
  const value = reader(numbers);
  return {
    title,
    head: ["", ...names(colLabels, columns)],
    rows: names(rowLabels, rows).map((label, i) => [label, ...Array.from({ length: columns }, (_, j) => value(i * columns + j))]),
  };
}

// A table of vectors travels as halves of floats, each two bytes.
function halfTableOf({ half, rows, columns, labels }) {
  const bits = new Uint16Array(half.buffer, half.byteOffset, rows * columns);
  const numbers = Float32Array.from(bits, (b) => {
    const [sign, power, rest] = [b >> 15 ? -1 : 1, (b >> 10) & 31, b & 1023];
    return sign * (power ? 2 ** (power - 15) * (1 + rest / 1024) : 2 ** -14 * (rest / 1024));
  });
  numbers.shape = [rows, columns];
  return grid("", numbers, labels);
}

// The shortest number that is the same in 32 bits: 0.1, not 0.10000000149011612.
export function short32(x) {
  for (let digits = 6; digits < 9; digits++) if (Math.fround(Number(x.toPrecision(digits))) === x) return Number(x.toPrecision(digits));
  return Number.isFinite(x) ? Number(x.toPrecision(9)) : String(x);
}

function reader(numbers, shares = false) {
  if (numbers instanceof Float32Array) return (i) => short32(numbers[i]);
  return shares ? (i) => Number((numbers[i] / 255).toFixed(4)) : (i) => numbers[i];
}

const isScalar = (item) => item === null || ["number", "string", "boolean"].includes(typeof item);
const isList = (item) => Array.isArray(item) && item.length > 0;
const isRecord = (item) => item && typeof item === "object" && !Array.isArray(item) && !ArrayBuffer.isView(item);

// Any payload: arrays of two or more axes are tables, lists of one length are columns of one table, and
// a list of records is a table with a row for each.
function walk(title, data) {
  const tables = [];
  const columns = new Map(); // by their length
  const named = (name) => (title ? `${title} ${name}` : name);
  const add = (name, count, at) => columns.set(count, [...(columns.get(count) ?? []), [name, at]]);
  for (const [name, item] of Object.entries(data)) {
    if (SAID.has(name)) continue;
    if (ArrayBuffer.isView(item)) {
      if (item.shape.length === 1) add(name, item.length, reader(item));
      else if (item.length) tables.push(deep(named(name), item, data, name === "cells"));
    } else if (isList(item) && item.every(isScalar)) add(name, item.length, (i) => item[i]);
    else if (isList(item) && item.every(isRecord)) tables.push(...records(named(name), item));
    else if (isList(item) && item.every((row) => isList(row) && row.every(isScalar)))
      tables.push({ title: named(name), head: null, rows: item });
    else if (isList(item)) tables.push(...item.flatMap((one, i) => (isRecord(one) ? walk(named(`${name} ${i}`), one) : [])));
    else if (isRecord(item)) tables.push(...walk(named(name), item));
  }
  for (const [count, named_] of columns) {
    const rows = Array.from({ length: count }, (_, i) => named_.map(([, at]) => at(i)));
    tables.push({ title, head: named_.map(([name]) => name), rows });
  }
  return tables;
}

// A row for each place on all axes but the last; axes are named by the lists of texts that fit them.
function deep(title, item, data, shares) {
  const value = reader(item, shares && item instanceof Uint8Array);
  const width = item.shape.at(-1);
  const before = item.shape.slice(0, -1);
  const lists = Object.values(data).filter((one) => isList(one) && one.every((text) => typeof text === "string"));
  const across = lists.findLast((one) => one.length === width);
  const down = before.map((count) => lists.find((one) => one.length === count));
  const covered = data.covered?.length === before.length - 1 ? data.covered : null; // by a question
  const rows = Array.from({ length: item.length / width }, (_, row) => {
    const at = before.map((count, axis) => Math.floor(row / before.slice(axis + 1).reduce((a, b) => a * b, 1)) % count);
    const hidden = covered?.every((one, axis) => one === at[axis]);
    const place = at.map((one, axis) => down[axis]?.[one] ?? one);
    return [...place, ...Array.from({ length: width }, (_, j) => (hidden ? "?" : value(row * width + j)))];
  });
  return { title, head: [...before.map(() => ""), ...Array.from({ length: width }, (_, j) => across?.[j] ?? j)], rows };
}

function records(title, items) {
  const names = [...new Set(items.flatMap((item) => Object.keys(item).filter((name) => isScalar(item[name]))))];
  const inside = items.flatMap((item, i) => {
    const rest = Object.fromEntries(Object.entries(item).filter(([, value]) => !isScalar(value)));
    return walk(`${title} ${item.name || item.label || i}`, rest);
  });
  const own = names.length ? [{ title, head: names, rows: items.map((item) => names.map((name) => item[name])) }] : [];
  return [...own, ...inside];
}
