// The pieces of the picture, made anew for every trace; where they stand is decided elsewhere. What a
// folded layer does not show is made when it opens.

import { el, svg } from "../_shared/common.js";
import { number, whole } from "../_shared/numbers.js";
import { fill, makeGradient, makePips, makeTitle, paintTiles, tileColors } from "./parts.js";
import { makePlan, norm, reach } from "./plan.js";
import { worded } from "../_shared/worded.js";

export class MachinePieces {
  // Makes the pieces on a sheet that is not on the page yet; yields between two of them.
  *build() {
    const { data } = this;
    const layers = this.narrow ? 0 : this.layers; // the way of one token has its own
    const { words, rows, values } = data;
    this.plan = makePlan(data, this.width, this.open);
    this.stage.style.height = `${this.plan.height}px`; // what stands below keeps its place
    this.buildLegend();
    this.sheet = document.createDocumentFragment();
    this.stage.setAttribute("aria-label", words.picture);
    this.svg = svg("svg", { class: "paper" });
    this.groups = Array.from({ length: this.last + 1 }, () => svg("g"));
    this.panels = Array.from({ length: layers }, () => svg("rect", { class: "panel", rx: 10 }));
    this.svg.append(...this.panels, ...this.groups);
    this.buildChips();
    this.idTexts = rows.map((row) => this.groups[1].appendChild(svg("text", { class: "id num" }, String(row.id))));
    this.sheet.append(this.svg, this.spot);
    this.titles = [];
    this.tiles = [];
    this.layerTitles = [];
    const title = (key, stage, link = key) => {
      const node = makeTitle(words.titles[key], data.links[link], words, (chapter) => this.trigger("chapter", chapter));
      node.stage = stage;
      (stage ? this.sheet : this.side).append(node);
      this.titles.push(node);
      return node;
    };
    this.tokensTitle = title("tokens", 0);
    this.idsTitle = title("ids", 1);
    this.idsTitle.classList.add("ids");
    this.idsTitle.sub.textContent = words.of.replace("{vocab}", whole(data.vocab));
    this.tokensTitle.sub.textContent = whole(rows.length + rows[0].position);
    if (!values) return this.buildWaiting();
    this.vectorTitle = title("vectors", 2);
    this.vectorTitle.classList.add("vectors");
    this.vectorTitle.sub.textContent = words.wide.replace("{width}", whole(values.vectors.shape[2]));
    yield* this.buildColumns();
    for (let l = 0; l < layers; l++) {
      this.layerTitles.push(this.buildLayer(l, title("layer", 3 + 2 * l, `layer ${l}`)));
      yield;
    }
    this.scoresTitle = title("scores", this.last - 1);
    this.scoresTitle.classList.add("scores");
    this.nextTitle = title("next", this.last);
    this.buildList();
    this.buildLoop();
  }

  buildWaiting() {
    this.dots = this.data.rows.map(() => this.groups[0].appendChild(svg("line", { class: "dots" })));
    this.wait = el("p", this.data.coming ? "wait coming" : "wait", this.data.words.loading);
    this.sheet.append(this.wait);
    this.say.textContent = "";
  }

  buildChips() {
    const { rows, words } = this.data;
    this.side = el("div", "side");
    this.chips = rows.map((row, i) => {
      const chip = el("button", "chip", row.text, { type: "button", "aria-label": `${row.text}, ${row.id}` });
      chip.classList.toggle("special", row.special);
      chip.classList.toggle("hex", !row.whole);
      chip.style.setProperty("--tint", `var(--lv-tint-${row.position % 6})`);
      chip.title = row.special ? words.start : row.text;
      chip.onclick = (event) => {
        event.stopPropagation();
        this.choose(i);
      };
      chip.onpointerenter = () => this.point({ kind: "row", row: i });
      return chip;
    });
    this.earlier = el("span", "earlier", words.earlier.replace("{count}", whole(rows[0].position)));
    this.earlier.hidden = !rows[0].position;
    this.side.append(this.earlier, ...this.chips);
    this.sheet.append(this.side);
  }

  *buildColumns() {
    const { rows, values } = this.data;
    const [columns, , size] = values.vectors.shape;
    const colors = tileColors(this.root);
    const { cellColumns } = this.plan;
    const lines = Math.ceil(size / cellColumns);
    for (let c = 0; c < columns; c++) {
      const canvas = el("canvas", "tiles", null, { "aria-hidden": "true" });
      const part = values.vectors.subarray(c * rows.length * size, (c + 1) * rows.length * size);
      canvas.reach = reach(part);
      canvas.lines = lines;
      canvas.painted = paintTiles(part, size, cellColumns, lines, canvas.reach, colors);
      canvas.lengths = rows.map((_, r) => norm(part.subarray(r * size, (r + 1) * size)));
      this.sheet.append(canvas);
      this.tiles.push(canvas);
      yield;
    }
    this.longest = Math.max(...this.tiles.flatMap((t) => t.lengths));
    const strands = () => rows.map(() => svg("path", { class: "strand" }));
    this.entering = strands();
    this.leaving = strands();
    this.groups[2].append(...this.entering);
    this.groups[this.last - 1].append(...this.leaving);
    this.scales = this.tiles.map((t, c) =>
      this.groups[2 + 2 * c].appendChild(svg("text", { class: "scale num" }, `±${number(t.reach, t.reach < 10 ? 1 : 0)}`)),
    );
  }

  buildLayer(l, node) {
    const { rows, words } = this.data;
    node.classList.add("layer");
    const attention = this.groups[3 + 2 * l];
    const network = this.groups[4 + 2 * l];
    const gradient = makeGradient(`${this.id}-${l}`);
    const parts = { node, gradient, attention, network, curves: [], ports: [], lenses: [] };
    parts.strands = rows.map(() => attention.appendChild(svg("path", { class: "strand" })));
    parts.web = svg("g", { stroke: `url(#${this.id}-${l})` });
    attention.append(gradient, parts.web);
    for (let q = 0; q < rows.length; q++) {
      for (let k = rows[0].position ? -1 : 0; k <= q; k++) parts.curves.push({ path: null, q, k });
    }
    parts.after = rows.map(() => network.appendChild(svg("path", { class: "strand" })));
    parts.opener = el("button", "opener", null, { type: "button", title: words.widen });
    parts.opener.onclick = (event) => {
      event.stopPropagation();
      this.chooseLayer(l);
    };
    this.sheet.append(parts.opener);
    return parts;
  }

  // What a layer shows the more, the wider it is.
  buildNetwork({ network, lenses }) {
    const { rows, words } = this.data;
    lenses.push(...rows.map(() => network.appendChild(svg("path", { class: "lens" }))));
    return network.appendChild(svg("text", { class: "scale" }, words.network));
  }

  // What the open layer alone has.
  buildInside(l, parts) {
    const { rows, values, words } = this.data;
    const { attention, node } = parts;
    for (const role of ["value", "key", "query"]) {
      const list = values[{ value: "values", key: "keys", query: "queries" }[role]];
      const size = this.heads * rows.length;
      const most = Math.max(...list.subarray(l * size, (l + 1) * size));
      for (let r = 0; r < rows.length; r++) {
        const dot = attention.appendChild(svg("circle", { class: `port ${role}` }));
        parts.ports.push({ dot, role, row: r, list, most });
      }
    }
    parts.note = attention.appendChild(svg("text", { class: "scale" }, words.attention));
    parts.pips = makePips(this.heads, worded("{one}, {other}", { one: words.titles.layer.replace("{layer}", l), other: words.head }), (h) =>
      this.chooseHead(l, h),
    );
    // Where the others are too thin to be pressed one by one.
    parts.beside = this.steps(l, (to) => this.layerTitles[to].beside);
    node.append(parts.beside, parts.pips);
  }

  // Two buttons that lead to the layers beside one; of(layer): what holds those of another.
  steps(l, of) {
    const { titles } = this.data.words;
    const beside = el("span", "beside");
    for (const [way, text, to] of [
      [0, "‹", l - 1],
      [1, "›", l + 1],
    ]) {
      const name = titles.layer.replace("{layer}", to);
      const press = el("button", "step", text, { type: "button", "aria-label": name, title: name });
      press.disabled = to < 0 || to >= this.layers;
      press.onclick = (event) => {
        event.stopPropagation();
        this.chooseLayer(to, () => of(to).querySelectorAll(".step")[way].focus());
      };
      beside.append(press);
    }
    return beside;
  }

  buildList() {
    const listed = this.data.values.top_ids.shape[1] + 1;
    const [scores, next] = this.groups.slice(-2);
    this.entries = Array.from({ length: listed }, () => ({
      band: scores.appendChild(svg("path", { class: "band" })),
      score: scores.appendChild(svg("text", { class: "score num" })),
      rail: next.appendChild(svg("rect", { class: "rail", rx: 3 })),
      bar: next.appendChild(svg("rect", { class: "bar", rx: 3 })),
      text: next.appendChild(svg("text", { class: "word" })),
      share: next.appendChild(svg("text", { class: "share num" })),
      mark: next.appendChild(svg("circle", { class: "mark", r: 3 })),
    }));
  }

  buildLoop() {
    const { words, next, writing } = this.data;
    this.loop = this.groups[this.last].appendChild(svg("path", { class: "loop" }));
    this.arrow = this.groups[this.last].appendChild(svg("path", { class: "arrow" }));
    this.ghost = el("span", "chip ghost", next.ends ? words.end : next.text);
    this.side.append(this.ghost);
    this.actions = el("div", "actions");
    const button = (text, count, kind) => {
      const node = el("button", kind, null, { type: "button" });
      fill(node, text, { token: { token: next.text } });
      node.onclick = (event) => {
        event.stopPropagation();
        this.trigger("write", count);
      };
      // While a text is being written the button is made anew each moment: no time for a click.
      if (writing) node.onpointerdown = node.onclick;
      this.actions.append(node);
      return node;
    };
    if (writing) {
      const [done, wanted] = writing;
      this.actions.append(el("span", "progress num", words.writing.replace("{done}", done).replace("{wanted}", wanted)));
      button(words.stop, 0, "plain");
    } else if (next.ends) {
      this.actions.append(el("span", "progress", words.ended));
    } else {
      button(words.write, 1, "write");
      button(words.writeTen, 10, "plain");
    }
    this.sheet.append(this.actions);
  }

  buildLegend() {
    const { values, words } = this.data;
    if (!values) return this.legend.replaceChildren();
    const item = (kind, text) => {
      const node = el("span", "item");
      node.append(el("i", kind), el("span", null, text));
      return node;
    };
    this.legend.replaceChildren(
      item("space", words.legend.space),
      item("ramp", words.legend.cells),
      item("violet", words.legend.curves),
      item("dot query", words.legend.query),
      item("dot key", words.legend.key),
      item("dot value", words.legend.value),
      item("thread", words.legend.stream),
      item("pod", words.legend.network),
      item("truth", words.legend.truth),
    );
  }
}
