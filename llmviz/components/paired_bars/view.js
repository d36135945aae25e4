// Two probabilities for each label as a pair of bars, with the numbers at their ends; or one.

import { segment, ticks } from "../_shared/axes.js";
import { css, el, fit, live } from "../_shared/common.js";

export default function (component) {
  return live(component, (root) => new PairedBars(root));
}

const [ROW, BAR, HEADER, FOOTER, NUMBER] = [34, 12, 8, 44, 52];

class PairedBars {
  constructor(root) {
    this.root = root;
    this.title = el("div", "title");
    this.legend = el("div", "legend");
    this.canvas = el("canvas", "pairs", null, { role: "img" });
    root.append(this.title, this.legend, this.canvas);
  }

  update(data, width) {
    this.data = data;
    this.title.textContent = data.title;
    this.legend.replaceChildren(
      ...data.names.map((name, k) => {
        const entry = el("span", "entry");
        const swatch = el("span", "swatch");
        swatch.style.background = `var(${["--lv-neutral-pos", "--lv-accent"][k]})`;
        entry.append(swatch, el("span", null, name));
        return entry;
      }),
    );
    this.bars = [data.before, data.after].filter(Boolean);
    const said = data.labels.map((label, i) => `${label}: ${this.bars.map((bar) => percent(bar[i])).join(", ")}`);
    this.canvas.setAttribute("aria-label", `${data.title}. ${data.names.join(", ")}. ${said.join("; ")}`);
    this.layout(width);
  }

  layout(width) {
    const { labels, limit, axis } = this.data;
    const bottom = HEADER + ROW * labels.length;
    const pen = fit(this.canvas, width, bottom + FOOTER);
    const known = {};
    const style = (name) => (known[name] ??= css(this.root, name));
    const font = style("--st-font") || "sans-serif";
    pen.font = `13px ${font}`;
    const left = Math.min(0.35 * width, 12 + Math.max(...labels.map((label) => pen.measureText(label).width)));
    const x = (value) => left + (value / limit) * (width - left - NUMBER);
    this.grid(pen, x, bottom, style, font, [left, width], axis);
    pen.textBaseline = "middle";
    labels.forEach((label, i) => {
      const middle = HEADER + ROW * (i + 0.5);
      pen.font = `13px ${font}`;
      pen.fillStyle = style("--lv-ink");
      pen.textAlign = "right";
      pen.fillText(label, left - 7, middle, left - 8);
      pen.textAlign = "left";
      pen.font = `11.5px ${font}`;
      this.bars.forEach((bar, k) => {
        const value = bar[i];
        const y = middle + (k - this.bars.length / 2) * BAR;
        pen.fillStyle = style(k ? "--lv-accent" : "--lv-neutral-pos");
        pen.fillRect(left, y, Math.max(1, x(value) - left), BAR - 1);
        pen.fillStyle = style("--lv-muted");
        pen.fillText(percent(value), x(value) + 5, y + BAR / 2);
      });
    });
  }

  grid(pen, x, bottom, style, font, [left, width], axis) {
    pen.lineWidth = 1;
    pen.font = `11.5px ${font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const value of ticks([0, this.data.limit], width < 400 ? 3 : 5)) {
      const at = Math.round(x(value)) + 0.5;
      pen.strokeStyle = style(value === 0 ? "--lv-line" : "--lv-hair");
      segment(pen, at, HEADER, at, bottom);
      pen.fillStyle = style("--lv-muted");
      pen.fillText(percent(value).replace(/\.0(?= )/, ""), at, bottom + 12);
    }
    pen.fillStyle = style("--lv-ink");
    pen.font = `12.5px ${font}`;
    pen.fillText(axis, (left + width - NUMBER) / 2, bottom + 32);
  }
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}
