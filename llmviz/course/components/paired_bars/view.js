// Two probabilities for each label as a pair of bars, with the numbers at their ends; or one.

import { GRID, font, frame, plotIn, ticks } from "../_shared/chart.js";
import { el, fit, live, styles } from "../_shared/common.js";
import { percent } from "../_shared/numbers.js";

export default function (component) {
  return live(component, (root) => new PairedBars(root));
}

const [ROW, BAR, HEADER, FOOTER, NUMBER] = [34, 12, 8, 44, 52];
const LOOK = { ...GRID, under: 12 };

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
    const lines = data.labels.map((label, i) => `${label}: ${this.bars.map((bar) => percent(bar[i])).join(", ")}`);
    this.canvas.setAttribute("aria-label", `${data.title}. ${data.names.join(", ")}. ${lines.join("; ")}`);
    this.layout(width);
  }

  layout(width) {
    const { labels, limit, axis } = this.data;
    const bottom = HEADER + ROW * labels.length;
    const pen = fit(this.canvas, width, bottom + FOOTER);
    const style = styles(this.root);
    pen.font = font(style, 13);
    const left = Math.min(0.35 * width, 12 + Math.max(...labels.map((label) => pen.measureText(label).width)));
    const plot = plotIn([width, bottom + FOOTER], { left, right: NUMBER, top: HEADER, bottom: FOOTER }, [0, limit], [0, 1]);
    const marks = ticks([0, limit], width < 400 ? 3 : 5).map((value) => [value, percent(value).replace(/\.0(?= )/, "")]);
    frame(pen, style, plot, { x: { marks, grid: "zero", title: axis } }, LOOK);
    const { x } = plot;
    pen.textBaseline = "middle";
    labels.forEach((label, i) => {
      const middle = HEADER + ROW * (i + 0.5);
      pen.font = font(style, 13);
      pen.fillStyle = style("--lv-ink");
      pen.textAlign = "right";
      pen.fillText(label, left - 7, middle, left - 8);
      pen.textAlign = "left";
      pen.font = font(style, 11.5);
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
}
