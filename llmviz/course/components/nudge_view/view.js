// A slider moves one weight: the curve is the loss, the straight line what the slope predicts.

import { OPEN, dot, font, frame, inside, line, plotIn, ring, segment } from "../_shared/chart.js";
import { eachFrame, el, fit, follow, live, styles } from "../_shared/common.js";
import { fixed, number } from "../_shared/numbers.js";
import { moveThumb, namedSlider } from "../_shared/slider.js";

export default function (component) {
  return live(component, (root, send) => new NudgeView(root, send));
}

const TALL = 300;
const SIDES = { left: 66, right: 18, top: 20, bottom: 42 };

class NudgeView {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    const slider = namedSlider();
    this.name = slider.name;
    this.range = slider.range;
    this.value = slider.value;
    this.line = el("p", "line", null, { "aria-live": "polite" });
    this.canvas = el("canvas", null, null, { role: "img" });
    root.append(slider.bar, this.canvas, this.line);
    const soon = eachFrame(() => this.paint());
    this.range.oninput = () => {
      this.at = Number(this.range.value);
      this.held = true;
      soon();
    };
    this.range.onchange = () => {
      this.held = false;
      send("at", this.at);
    };
  }

  update(data, width) {
    this.data = data;
    const at = follow(this, "at", data.at, this.at);
    if (!this.held) this.at = Math.min(at, data.weights.length - 1);
    this.range.max = data.weights.length - 1;
    this.range.setAttribute("aria-label", data.words.weight);
    this.name.textContent = data.words.weight;
    this.canvas.setAttribute("aria-label", data.words.picture);
    this.layout(width);
  }

  layout(width) {
    const { weights, losses, predicted } = this.data;
    const all = [...losses, ...predicted];
    const [low, high] = [Math.min(...losses), Math.max(...losses)];
    const room = (high - low) * 0.22 || 1e-6;
    const bottom = Math.max(Math.min(...all), low - room);
    const top = Math.min(Math.max(...all), high + room);
    this.xs = [weights[0], weights[weights.length - 1]];
    this.ys = [bottom, top - bottom < 1e-9 ? bottom + 1e-6 : top];
    this.plot = plotIn([Math.min(760, Math.round(width)), TALL], SIDES, this.xs, this.ys);
    this.paint();
  }

  paint() {
    const { weights, losses, predicted, words, lines } = this.data;
    const k = this.at;
    const { plot } = this;
    const pen = fit(this.canvas, plot.width, TALL);
    const style = styles(this.root);
    moveThumb(this.range, k, weights.length - 1);
    this.value.textContent = number(weights[k], 4);
    this.range.setAttribute("aria-valuetext", this.value.textContent);
    this.line.textContent = lines[k];
    frame(
      pen,
      style,
      plot,
      { x: { marks: even(this.xs, 4), title: words.x_axis }, y: { marks: even(this.ys, 3), title: words.y_axis } },
      OPEN,
    );
    inside(pen, [plot.left, 0, plot.right - plot.left, plot.bottom], () => {
      line(pen, plot, weights, predicted, { color: style("--lv-key"), dash: [6, 4], width: 1.8 });
      line(pen, plot, weights, losses, { color: style("--lv-loss"), width: 2.6 });
      const [spot, below] = [plot.at(weights[k], losses[k]), plot.at(weights[k], predicted[k])];
      pen.strokeStyle = style("--lv-accent");
      pen.lineWidth = 2;
      segment(pen, ...spot, ...below);
      pen.strokeStyle = style("--st-background-color");
      pen.fillStyle = style("--lv-key");
      dot(pen, below, 5);
      pen.stroke();
      pen.fillStyle = style("--lv-loss");
      dot(pen, spot, 7);
      pen.stroke();
      const middle = (weights.length - 1) / 2;
      pen.strokeStyle = style("--lv-ink");
      ring(pen, plot.at(weights[middle], losses[middle]), 4);
    });
    pen.font = `600 ${font(style, 12)}`;
    pen.textAlign = "left";
    pen.fillStyle = style("--lv-loss-text");
    pen.fillText(words.true, 76, 14);
    pen.fillStyle = style("--lv-key-text");
    pen.fillText(words.predicted, 86 + pen.measureText(words.true).width, 14);
  }
}

// Marks at equal distances from end to end, with the digits that tell them apart.
function even([low, high], parts) {
  const step = (high - low) / parts;
  const digits = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(step) + 0.01)));
  const values = Array.from({ length: parts + 1 }, (_, i) => low + ((high - low) * i) / parts);
  return values.map((value) => [value, fixed(Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value, digits)]);
}
