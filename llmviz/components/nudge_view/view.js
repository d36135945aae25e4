// A slider moves one weight: the curve is the loss, the straight line what the slope foretold.

import { css, eachFrame, el, fit, follow, live, number } from "../_shared/common.js";

export default function (component) {
  return live(component, (root, send) => new NudgeView(root, send));
}

const TALL = 300;

class NudgeView {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    const bar = el("div", "bar-line");
    this.name = el("span", "name");
    this.range = el("input", "scrub", null, { type: "range", min: 0, step: 1 });
    this.value = el("output", "value num");
    bar.append(this.name, this.range, this.value);
    this.line = el("p", "line", null, { "aria-live": "polite" });
    this.canvas = el("canvas", null, null, { role: "img" });
    root.append(bar, this.canvas, this.line);
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
    this.width = Math.min(760, Math.round(width));
    const { weights, losses, predicted } = this.data;
    const all = [...losses, ...predicted];
    const [low, high] = [Math.min(...losses), Math.max(...losses)];
    const room = (high - low) * 0.22 || 1e-6;
    this.box = [weights[0], weights[weights.length - 1], Math.max(Math.min(...all), low - room), Math.min(Math.max(...all), high + room)];
    if (this.box[3] - this.box[2] < 1e-9) this.box[3] = this.box[2] + 1e-6;
    this.paint();
  }

  at_(x, y) {
    const [a, b, c, d] = this.box;
    return [66 + ((x - a) / (b - a)) * (this.width - 84), TALL - 42 - ((y - c) / (d - c)) * (TALL - 62)];
  }

  paint() {
    const { weights, losses, predicted, words, lines } = this.data;
    const k = this.at;
    const pen = fit(this.canvas, this.width, TALL);
    const get = (name) => css(this.root, name);
    this.range.value = k;
    this.range.style.setProperty("--share", `${(100 * k) / (weights.length - 1)}%`);
    this.value.textContent = number(weights[k], 4);
    this.range.setAttribute("aria-valuetext", this.value.textContent);
    this.line.textContent = lines[k];
    this.axes(pen, get);
    pen.save();
    pen.beginPath();
    pen.rect(66, 0, this.width - 84, TALL - 42);
    pen.clip();
    const draw = (values, color, dash, wide) => {
      pen.strokeStyle = color;
      pen.lineWidth = wide;
      pen.setLineDash(dash);
      pen.beginPath();
      weights.forEach((w, i) => pen[i ? "lineTo" : "moveTo"](...this.at_(w, values[i])));
      pen.stroke();
      pen.setLineDash([]);
    };
    draw(predicted, get("--lv-key"), [6, 4], 1.8);
    draw(losses, get("--lv-neutral-pos"), [], 2.6);
    const [x, y] = this.at_(weights[k], losses[k]);
    const [, foretold] = this.at_(weights[k], predicted[k]);
    pen.strokeStyle = get("--lv-accent");
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x, foretold);
    pen.stroke();
    const spot = (py, color, r) => {
      pen.fillStyle = color;
      pen.strokeStyle = get("--st-background-color");
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(x, py, r, 0, 7);
      pen.fill();
      pen.stroke();
    };
    spot(foretold, get("--lv-key"), 5);
    spot(y, get("--lv-neutral-pos"), 7);
    const middle = (weights.length - 1) / 2;
    const [mx, my] = this.at_(weights[middle], losses[middle]);
    pen.strokeStyle = get("--lv-ink");
    pen.beginPath();
    pen.arc(mx, my, 4, 0, 7);
    pen.stroke();
    pen.restore();
    pen.font = `600 12px ${get("--st-font") || "sans-serif"}`;
    pen.textAlign = "left";
    pen.fillStyle = get("--lv-neutral-text");
    pen.fillText(words.true, 76, 14);
    pen.fillStyle = get("--lv-key-text");
    pen.fillText(words.predicted, 86 + pen.measureText(words.true).width, 14);
  }

  axes(pen, get) {
    const [a, b, c, d] = this.box;
    pen.font = `11px ${get("--st-font") || "sans-serif"}`;
    pen.fillStyle = get("--lv-muted");
    pen.strokeStyle = get("--lv-line");
    pen.beginPath();
    pen.moveTo(...this.at_(a, d));
    pen.lineTo(...this.at_(a, c));
    pen.lineTo(...this.at_(b, c));
    pen.stroke();
    const digits = (span) => Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(span) + 0.01)));
    pen.textAlign = "center";
    for (let i = 0; i <= 4; i++) {
      const x = a + ((b - a) * i) / 4;
      pen.fillText(tick(x, digits((b - a) / 4)), this.at_(x, c)[0], TALL - 27);
    }
    pen.fillText(this.data.words.x_axis, (66 + this.width) / 2, TALL - 8);
    pen.textAlign = "right";
    for (let i = 0; i <= 3; i++) {
      const y = c + ((d - c) * i) / 3;
      pen.fillText(tick(y, digits((d - c) / 3)), 60, this.at_(a, y)[1] + 3);
    }
    pen.save();
    pen.translate(10, (TALL - 42) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(this.data.words.y_axis, 0, 0);
    pen.restore();
  }
}

function tick(x, digits) {
  return (Math.abs(x) < 0.5 * 10 ** -digits ? 0 : x).toFixed(digits).replace("-", "−");
}
