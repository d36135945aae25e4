// Curves of runs over one axis: loss above, learning rate and gradient norm below, one scrubber for
// all of them. Data grow while a run goes on; zoom and scrubber stay where the learner put them.

import { nearest } from "../_shared/chart.js";
import { eachFrame, el, follow, live, remember, remembered, spotOf, svg } from "../_shared/common.js";
import { curveStore, tellStep } from "../_shared/curve_store.js";
import { figure, tiny, whole } from "../_shared/numbers.js";
import { makePlayer } from "../_shared/player.js";
import { makeCurveControls } from "./controls.js";
import { CurvePicture } from "./picture.js";
import { COLOURS, GAP, LEFT, RIGHT, SMALL, inUnit } from "./plane.js";

export default function (component) {
  return live(component, (root, send) => new Curves(root, send));
}

const PATIENCE = 1500; // milliseconds after which the newest arrays that are there must do

class Curves extends CurvePicture {
  constructor(root, send) {
    super();
    this.root = root;
    this.send = send;
    this.zoom = null;
    this.hidden = new Set(); // names of runs
    this.controls = makeCurveControls(
      root,
      (view) => this.look(view),
      (view) => this.send("view", view),
    );
    this.stage = el("div", "stage");
    this.base = el("canvas", "base", null, { role: "img" });
    this.over = el("canvas", "over");
    this.stage.append(this.base, this.over);
    this.keys = el("div", "keys muted");
    const tools = el("div", "tools");
    this.closer = el("button", "tool", null, { type: "button" });
    this.all = el("button", "tool", null, { type: "button" });
    tools.append(this.keys, this.closer, this.all);
    const bar = el("div", "bar");
    this.player = makePlayer(bar, {
      onStep: (i) => this.moved(i),
      onCommit: (i) => this.commit(i),
      pace: 90,
      lead: 0,
    });
    this.table = el("table", "values");
    this.sample = el("div", "sample");
    this.note = el("p", "cut");
    const scroll = el("div", "scroll");
    scroll.appendChild(this.table);
    root.append(tools, this.stage, bar, scroll, this.sample, this.note);
    this.closer.onclick = () => this.nearer();
    this.all.onclick = () => this.setZoom(null);
    this.paintOver = eachFrame(() => this.cursor());
    this.hand();
    this.listener = () => this.take();
    curveStore.listeners.add(this.listener);
  }

  destroy() {
    this.player.stop();
    clearTimeout(this.patience);
    curveStore.listeners.delete(this.listener);
  }

  // The chart waits for the arrays of its runs, which travel apart from it.
  update(data, width) {
    this.sent = data;
    this.room = width;
    this.take();
  }

  take(late = false) {
    const { sent } = this;
    clearTimeout(this.patience);
    if (!sent) return;
    const curves = sent.runs.map((run) => curveStore.held.get(run.store));
    if (curves.some((one, r) => !one || (!late && one.stamp !== sent.runs[r].stamp))) {
      if (!late) this.patience = setTimeout(() => this.take(true), PATIENCE);
      return;
    }
    this.sent = null;
    this.show({ ...sent, runs: sent.runs.map((run, r) => ({ ...curves[r].run, ...run })) }, this.room);
  }

  show(data, width) {
    const before = this.data;
    this.data = data;
    const { words } = data;
    this.closer.textContent = words.closer;
    this.all.textContent = words.all;
    this.base.setAttribute("aria-label", words.picture);
    this.controls.offer(data.offered, data.weights, words.controls);
    this.turn(follow(this, "view", data.view, this.view));
    this.hidden = new Set(data.hidden && follow(this, "hidden", data.hidden, [...this.hidden]));
    // A slider at the last step moves on with the run; at an earlier step it stays there.
    const main = data.runs[data.main];
    const last = Math.max(0, main.steps.length - 1);
    const same = before && before.runs[before.main]?.name === main.name;
    const wanted = follow(this, "at", data.at, before ? this.step : data.at);
    const at = wanted < 0 ? last : nearest(main.steps, wanted);
    this.busy = true;
    const playing = this.player.playing;
    if (!(playing && same)) {
      this.player.configure(last, at, {
        label: (i) => `${words.step} ${whole(main.steps[i] ?? 0)}`,
        text: (i) => `${words.step} ${whole(main.steps[i] ?? 0)}`,
        speeds: [1, 4, 16],
        usual: last > 300 ? 4 : 1,
      });
      this.step = at >= last ? -1 : main.steps[at];
    } else {
      this.player.last = last;
    }
    this.busy = false;
    tellStep(this.step);
    this.legend();
    this.layout(width);
  }

  // The hand chose another axis, unit or mean: all of them are here already.
  look(view) {
    this.turn(view);
    this.paint();
  }

  turn(view) {
    const axis = JSON.stringify([view.axis, view.logx]);
    if (axis !== this.axis) {
      this.zoom = this.axis ? null : remembered(this.root, "zoom", axis);
      this.axis = axis;
      remember(this.root, "zoom", this.zoom, axis);
    }
    this.view = view;
    const { data } = this;
    const mean = data.weights.indexOf(view.mean);
    for (const run of data.runs) {
      run.x = view.axis === "steps" ? run.steps : run[view.axis];
      run.vx = run[`v_${view.axis}`];
      run.y = inUnit(run.train, view.unit, run.bits);
      run.vy = inUnit(run.validation, view.unit, run.bits);
      run.s = mean < 0 ? [] : inUnit(run.means[mean], view.unit, run.bits);
    }
    const { bits } = data.runs[data.main];
    this.lines = data.lines.map((line) => ({ ...line, value: inUnit([line.value], view.unit, bits)[0] }));
    this.controls.show(view);
    const remarks = [data.notes.thinned];
    if (mean >= 0) remarks.push(data.notes.smoothed.replace("{weight}", view.mean));
    if (view.unit === "bits") remarks.push(data.notes.bytes);
    remarks.push(data.notes.counted);
    this.note.textContent = remarks.filter(Boolean).join(" ");
    this.note.hidden = !this.note.textContent;
    this.head = data.words.columns[mean < 0 ? "train" : "mean"];
  }

  layout(width) {
    this.width = width;
    const narrow = width < 560;
    this.root.classList.toggle("narrow", narrow);
    this.tall = narrow ? 230 : 320;
    this.height = this.tall + 2 * (SMALL + GAP) + 44;
    this.stage.style.height = `${this.height}px`;
    this.paint();
  }

  // ---- the hand on the picture

  hand() {
    const x = (event) => spotOf(event, this.over)[0];
    this.over.onpointermove = (event) => {
      this.hover = x(event);
      if (this.brush) this.brush[1] = this.hover;
      this.paintOver();
    };
    this.over.onpointerleave = () => {
      this.hover = null;
      this.paintOver();
    };
    this.over.onpointerdown = (event) => {
      if (event.button) return;
      this.over.setPointerCapture(event.pointerId);
      this.brush = [x(event), x(event)];
    };
    this.over.onpointercancel = () => {
      this.brush = null;
      this.paintOver();
    };
    this.over.onpointerup = () => {
      if (!this.brush) return;
      const [a, b] = this.brush.map((at) => this.x.value(Math.max(LEFT, Math.min(this.width - RIGHT, at))));
      const wide = Math.abs(this.brush[1] - this.brush[0]);
      this.brush = null;
      if (wide > 8) return this.setZoom([Math.min(a, b), Math.max(a, b)]);
      const main = this.data.runs[this.data.main];
      this.player.move(nearest(main.x, a));
      this.paintOver();
    };
    this.over.ondblclick = () => this.setZoom(null);
  }

  setZoom(range) {
    this.zoom = range;
    remember(this.root, "zoom", range, this.axis);
    this.paint();
  }

  nearer() {
    const main = this.data.runs[this.data.main];
    const [low, high] = this.range;
    const at = Math.max(low, Math.min(high, main.x[this.player.step] ?? high));
    const [a, b] = [this.x(low), this.x(high)];
    const centre = this.x(at);
    this.setZoom([this.x.value(centre - (centre - a) / 2), this.x.value(centre + (b - centre) / 2)]);
  }

  moved(i) {
    const main = this.data.runs[this.data.main];
    if (!this.busy) this.step = i >= main.steps.length - 1 ? -1 : main.steps[i];
    if (!this.busy) tellStep(this.step);
    this.paintOver();
  }

  commit(i) {
    const main = this.data.runs[this.data.main];
    this.send("at", i >= main.steps.length - 1 ? -1 : main.steps[i]);
  }

  // Made anew only where the runs are others, so that a button keeps the focus while curves grow.
  legend() {
    const { words, runs, main, hidden } = this.data;
    const fingerprint = JSON.stringify([words, main, !hidden, runs.map((run) => [run.name, run.label, run.colour])]);
    if (fingerprint === this.fingerprint) return this.toggles.forEach((tell) => tell());
    this.fingerprint = fingerprint;
    this.toggles = [];
    this.keys.textContent = hidden && runs.length > 1 ? `${words.keys} ${words.hides}` : words.keys;
    const head = el("tr");
    const columns = ["run", "step", "train", "validation", "lr", "grad", "rate"];
    for (const column of columns) head.appendChild(el("th", column, words.columns[column], { scope: "col" }));
    const body = el("tbody");
    this.rows = runs.map((run, r) => {
      const row = el("tr", r === this.data.main ? "main" : "");
      const cell = el("td", "run");
      const name = hidden && r !== main ? this.toggle(run, row) : el("span", "name");
      cell.appendChild(name);
      const swatch = svg("svg", { width: 24, height: 10, "aria-hidden": "true" });
      swatch.appendChild(
        svg("path", {
          d: "M0 5H24",
          "stroke-width": 3,
          stroke: `var(--lv-${COLOURS[run.colour % COLOURS.length]}-text)`,
          "stroke-dasharray": this.dash(run).join(" "),
        }),
      );
      name.append(swatch, el("span", null, run.label));
      row.appendChild(cell);
      const cells = columns.slice(1).map((column) => {
        const cell = el("td", `num ${column}`);
        row.appendChild(cell);
        return cell;
      });
      body.appendChild(row);
      return cells;
    });
    const top = el("thead");
    top.appendChild(head);
    this.table.replaceChildren(top, body);
  }

  // A run's name as a button that takes its curve off the picture and puts it back.
  toggle(run, row) {
    const button = el("button", "name", null, { type: "button" });
    const tell = () => {
      const off = this.hidden.has(run.name);
      row.classList.toggle("off", off);
      button.setAttribute("aria-pressed", String(!off));
      button.title = off ? this.data.words.show : this.data.words.hide;
    };
    button.onclick = () => {
      if (!this.hidden.delete(run.name)) this.hidden.add(run.name);
      tell();
      this.paint();
      this.send("hidden", [...this.hidden]);
    };
    tell();
    this.toggles.push(tell);
    return button;
  }

  row(r, run, i, v) {
    const head = this.table.querySelector("th.train");
    if (head.textContent !== this.head) head.textContent = this.head;
    const texts = [
      i < 0 ? "–" : whole(run.steps[i]),
      i < 0 ? "–" : figure(run.s.length ? run.s[i] : run.y[i]),
      v < 0 ? "–" : figure(run.vy[v]),
      i < 0 ? "–" : tiny(run.lr[i]),
      i < 0 ? "–" : figure(run.grad[i]),
      i < 0 || !Number.isFinite(run.rate[i]) ? "–" : whole(Math.round(run.rate[i])),
    ];
    this.rows[r].forEach((cell, c) => {
      if (cell.textContent !== texts[c]) cell.textContent = texts[c];
    });
  }

  write(run, i) {
    const { words } = this.data;
    const step = i < 0 ? -1 : run.steps[i];
    let latest = null;
    for (const sample of run.samples) if (sample[0] <= step) latest = sample;
    const key = latest ? `${run.name} ${latest[0]} ${latest[1].length}` : "";
    if (key === this.written) return;
    this.written = key;
    this.sample.hidden = !run.samples.length;
    const title = latest ? words.wrote.replace("{step}", whole(latest[0])) : words.silent;
    this.sample.replaceChildren(el("div", "muted", title));
    if (latest) this.sample.appendChild(el("pre", "text", latest[1].trim() ? latest[1] : words.nothing));
  }
}
