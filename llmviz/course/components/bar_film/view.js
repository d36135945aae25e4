// Bars in layers that change from step to step, and what is said of each step.

import { ticks } from "../_shared/chart.js";
import { el, follow, live } from "../_shared/common.js";
import { percent } from "../_shared/numbers.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new BarFilm(root, send));
}

const PACE = 450; // milliseconds a step

class BarFilm {
  constructor(root, send) {
    this.player = stepPlayer(root, send, () => this.draw(), PACE);
    this.step = 0;
    this.legend = el("div", "legend");
    this.high = el("div", "axis-title muted");
    this.plot = el("div", "plot");
    this.wide = el("div", "axis-title muted across");
    this.told = el("p", "told", null, { role: "status", "aria-live": "polite" });
    root.append(this.legend, this.high, this.plot, this.wide, this.told);
  }

  update(data) {
    this.data = data;
    const { labels, layers, limit, steps, axes } = data;
    [this.wide.textContent, this.high.textContent] = axes;
    this.legend.replaceChildren(...(layers.length > 1 ? layers.map(([name, role]) => entry(name, role)) : []));
    const lines = ticks([0, limit], 4).map((value) => {
      const line = el("div", "line", null, { "data-value": percent(value, 0) });
      line.style.bottom = `${(100 * value) / limit}%`;
      return line;
    });
    this.bars = labels.map((label) => {
      const bar = el("div", "bar", null, { "data-label": label, role: "img" });
      bar.append(...layers.map(([, role]) => coloured(el("div", "part"), role)));
      return bar;
    });
    this.plot.replaceChildren(...lines, ...this.bars);
    const step = follow(this, "step", data.step, this.player.step);
    const text = (at) => steps[at];
    this.player.stand(steps.length - 1, Math.min(step, steps.length - 1), { text, label: text });
    this.draw();
  }

  draw() {
    if (!this.bars) return;
    const { heights, labels, layers, limit, captions } = this.data;
    const { step } = this.player;
    this.told.textContent = captions[step];
    this.bars.forEach((bar, n) => {
      const shares = layers.map((_, k) => heights[(step * layers.length + k) * labels.length + n]);
      shares.forEach((share, k) => (bar.children[k].style.height = `${(100 * share) / limit}%`));
      const all = percent(shares.reduce((sum, share) => sum + share));
      const each = layers.length > 1 ? layers.map(([name], k) => `${name}: ${percent(shares[k])}`) : [];
      bar.title = [`${labels[n]}: ${all}`, ...each].join("\n");
      bar.setAttribute("aria-label", bar.title);
    });
  }

  destroy() {
    this.player.stop();
  }
}

function coloured(node, role) {
  node.style.background = `var(--lv-${role})`;
  return node;
}

function entry(name, role) {
  const node = el("span", "entry");
  node.append(coloured(el("span", "swatch"), role), el("span", null, name));
  return node;
}
