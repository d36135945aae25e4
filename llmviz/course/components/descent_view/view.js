// Optimizers on one landscape: every step, every learning rate, under the hand.

import { eachFrame, el, follow, live } from "../_shared/common.js";
import { stepPlayer } from "../_shared/player.js";
import { CurveStage } from "./curve_stage.js";
import { MapStage } from "./map_stage.js";
import { PlaneStage } from "./plane.js";
import { UpdateTable } from "./update_table.js";
import { LossChart, RateStrip } from "./walks.js";

const acts = new WeakMap();

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const act = (what) => acts.get(component.parentElement)("act", what);
  return live(component, (root, send) => new DescentView(root, send, act));
}

class DescentView {
  constructor(root, send, act) {
    this.root = root;
    this.send = send;
    this.player = stepPlayer(root, send, () => this.paint(), 220);
    this.body = el("div", "body");
    this.main = el("div", "main");
    this.side = el("div", "side");
    this.body.append(this.main, this.side);
    root.appendChild(this.body);
    this.act = act;
    this.strip = new RateStrip(el("div", "strip-box"), {
      onMove: (stops) => {
        this.stops = stops;
        this.held = true;
        this.soon();
      },
      onRest: (stops) => {
        this.held = false;
        send("stops", stops);
      },
    });
    this.line = el("p", "line", null, { "aria-live": "polite" });
    this.soon = eachFrame(() => this.paint());
    this.chart = new LossChart(this.side);
    this.table = new UpdateTable(this.side, (w) => {
      this.followed = w;
      this.send("followed", w);
      this.paint();
    });
  }

  update(data, width) {
    const before = this.data;
    this.data = data;
    const kind = data.stage?.kind;
    if (!this.stage || this.kind !== kind) {
      this.kind = kind;
      this.main.replaceChildren();
      this.stage = null;
      if (kind === "map") this.stage = new MapStage(this.main, (start) => this.act({ start }));
      if (kind === "curve") this.stage = new CurveStage(this.main);
      if (kind === "plane") this.stage = new PlaneStage(this.main, (point) => this.send("point", point));
      // Without a picture the chart is the picture.
      (this.stage ? this.side : this.main).prepend(this.chart.box);
      this.main.append(this.strip.root, this.line);
    }
    const count = data.walkers.length;
    const last = Math.max(...data.walkers.map((walker) => walker.when[walker.when.length - 1]));
    let stops = follow(this, "stops", data.stops, this.stops);
    if (stops.length !== count) stops = data.stops;
    if (!this.held || this.stops?.length !== count) this.stops = stops.map((stop) => Math.min(stop, data.rates.length - 1));
    this.followed = Math.min(count - 1, follow(this, "followed", data.followed, this.followed));
    if (kind === "plane") data.stage.chosen = follow(this, "point", data.point, this.stage.data?.stage.chosen);
    this.stage?.update(data);
    this.strip.update(data);
    this.table.update(data);
    this.layout(width);
    const step = Math.min(last, follow(this, "step", data.step, this.player.step));
    // Other data under the same player: what was playing plays on.
    if (!before || this.player.last !== last)
      this.player.configure(last, step, { speeds: [0.5, 1, 2, 4], usual: 1, label: (k) => `${data.words.step} ${k}` });
    else if (step !== this.player.step && !this.player.playing) this.player.set(step, true);
    this.paint();
  }

  layout(width) {
    this.width = width;
    const wide = width >= 860;
    this.root.classList.toggle("wide", wide);
    const main = wide ? Math.round(width * 0.6) : width;
    this.main.style.width = wide ? `${main}px` : "";
    this.stage?.layout(main);
    this.chart.update(this.data, wide && this.stage ? width - main - 28 : main, this.stage ? 210 : 330);
    if (this.stops) {
      this.strip.set(this.stops);
      this.paint();
    }
  }

  paint() {
    if (!this.data || !this.stops) return;
    const { step } = this.player;
    this.stage?.paint(this.stops, Math.max(0, step), this.followed);
    this.strip.set(this.stops);
    this.line.textContent = this.data.lines[this.stops[0]] ?? "";
    this.chart.paint(this.stops, Math.max(0, step), this.followed);
    this.table.paint(this.stops, Math.max(0, step), this.followed);
  }

  destroy() {
    this.player.stop();
  }
}
