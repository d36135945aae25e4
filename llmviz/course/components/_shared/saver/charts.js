// Plotly's charts on the page: what is in them, and how they leave it.

import { drawing, painted } from "./image.js";
import { packed, textAt } from "./page.js";
import { short32 } from "./tables.js";

const libraries = new Map(); // by their addresses

export class Chart {
  constructor(node, graph, key) {
    this.node = node;
    this.graph = graph;
    this.key = key;
  }

  get drawings() {
    return [...this.graph.querySelectorAll(".main-svg")].filter((one) => one.getBoundingClientRect().width > 0);
  }

  get flat() {
    return !this.graph.querySelector("canvas");
  }

  svg(ground) {
    return drawing(this.drawings, ground).text;
  }

  // A chart in three dimensions is drawn by the graphics card; it is asked for a picture of itself.
  async png(ground, title) {
    const layers = await Promise.all(
      Object.keys(this.graph._fullLayout)
        .filter((name) => /^scene\d*$/.test(name))
        .map((name) => this.scene(name)),
    );
    const { text, width, height } = drawing(this.drawings, layers.length ? "none" : ground);
    return painted(text, { width, height, ground, title, ink: getComputedStyle(this.node).color, under: layers });
  }

  async scene(name) {
    const { _scene, domain } = this.graph._fullLayout[name];
    const image = new Image();
    image.src = _scene.toImage("png");
    await image.decode();
    const { l, t, w, h } = this.graph._fullLayout._size;
    const [[x0, x1], [y0, y1]] = [domain.x, domain.y];
    return [image, l + w * x0, t + h * (1 - y1), w * (x1 - x0), h * (y1 - y0)];
  }

  tables() {
    return this.graph._fullData.filter((trace) => trace.visible !== false).map(traceTable);
  }

  async page(dark) {
    const address = `saved/plotly.js?${kindsOf(this.graph)}`;
    if (!libraries.has(address)) libraries.set(address, textAt(address).then(packed));
    const library = libraries.get(address);
    library.catch(() => libraries.delete(address));
    const { data, layout } = JSON.parse(JSON.stringify({ data: this.graph.data, layout: this.graph.layout }, asJson));
    delete layout.width;
    return { scripts: [], saved: { chart: { data, layout, theme: dark ? "dark" : "light", packed: await library } } };
  }
}

// The kinds of a chart's traces, by which the server chooses how much of Plotly is needed.
function kindsOf(graph) {
  return [...new Set(graph._fullData.map(({ type }) => type))]
    .sort()
    .map((type) => `kind=${type}`)
    .join("&");
}

// Arrays of numbers as lists, so that they become JSON.
function asJson(_, item) {
  return ArrayBuffer.isView(item) ? [...item] : item;
}

const COLUMNS = ["x", "y", "z", "text", "labels", "values", "base", "open", "close"];

function traceTable(trace, n) {
  const title = trace.name ?? `trace ${n}`;
  const { z } = trace;
  if (z?.length && (Array.isArray(z[0]) || ArrayBuffer.isView(z[0]))) {
    const x = trace.x ?? Array.from(z[0], (_, i) => i);
    return { title, head: ["", ...x], rows: Array.from(z, (row, i) => [trace.y?.[i] ?? i, ...Array.from(row, (value) => value)]) };
  }
  const names = COLUMNS.filter((name) => isLong(trace[name]));
  for (const axis of ["x", "y"]) if (isLong(trace[`error_${axis}`]?.array)) names.push(`error_${axis}`);
  const lists = names.map((name) => trace[name].array ?? trace[name]);
  const count = Math.max(0, ...lists.map((list) => list.length));
  const value = (list, i) => (list instanceof Float32Array ? short32(list[i]) : list[i]);
  return { title, head: names, rows: Array.from({ length: count }, (_, i) => lists.map((list) => value(list, i))) };
}

function isLong(item) {
  return (
    (Array.isArray(item) || ArrayBuffer.isView(item) || Array.isArray(item?.array) || ArrayBuffer.isView(item?.array)) &&
    (item.length ?? 1) > 0
  );
}
