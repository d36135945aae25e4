// A series with the line of its one-step predictions, sliders for the coefficients, and a forecast
// that grows one step at a time. The hand may draw the series.

import { GRID, dot, font, frame, line, plotIn, segment, ticks } from "../_shared/chart.js";
import { eachFrame, el, fit, follow, live, sentence, spotOf, styles } from "../_shared/common.js";
import { figure, short, whole } from "../_shared/numbers.js";
import { makePlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new SeriesView(root, send));
}

const TALL = 300;
const SIDES = { left: 56, right: 14, top: 14, bottom: 42 };
const STOPS = 400; // of a coefficient's slider

class SeriesView {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.canvas = el("canvas", "series", null, { role: "img" });
    this.legend = el("div", "legend");
    this.sliders = el("div", "sliders");
    this.error = el("p", "error", null, { role: "status", "aria-live": "polite" });
    this.reset = el("button", "reset", null, { type: "button" });
    this.reset.onclick = () => this.setHand(null, true);
    root.append(this.canvas, this.legend, this.sliders, this.error, this.reset);
    this.player = makePlayer(root, {
      onStep: (step) => this.grow(step),
      onCommit: (step) => send("step", step),
      pace: 350,
    });
    this.told = el("p", "told", null, { role: "status", "aria-live": "polite" });
    root.append(this.told);
    this.step = 0;
    this.hand = null;
    this.soon = eachFrame(() => this.draw());
    this.canvas.addEventListener("pointerdown", (event) => this.begin(event));
    this.canvas.addEventListener("pointermove", (event) => this.stroke(event));
    this.canvas.addEventListener("pointerup", () => this.finish());
    this.canvas.addEventListener("pointercancel", () => this.finish());
  }

  update(data, width) {
    this.data = data;
    this.stale = false; // the hand drew what is not fitted yet
    this.values = Array.from(data.values, (value) => (Number.isNaN(value) ? null : value));
    this.hand = follow(this, "hand", data.hand, this.hand);
    if (this.hand && this.hand.length !== data.b.length) this.hand = null;
    const step = Math.min(follow(this, "step", data.step, this.step), data.steps);
    this.canvas.setAttribute("aria-label", data.words.picture);
    this.canvas.classList.toggle("drawable", data.drawable);
    this.reset.textContent = data.words.reset;
    this.buildLegend();
    this.buildSliders();
    this.player.bar.hidden = data.steps === 0;
    this.told.hidden = data.steps === 0;
    this.step = step;
    this.player.configure(data.steps, step, { text: (at) => `${whole(at)} / ${whole(data.steps)}` });
    this.layout(width);
  }

  layout(width) {
    this.width = width;
    this.scale();
    this.draw();
  }

  // The range holds the series; a forecast that leaves it is drawn as far as there is room.
  scale() {
    const known = this.values.filter((value) => value !== null);
    const { drawable, range, fitted, steps } = this.data;
    let [low, high] = drawable ? range : [Math.min(...known), Math.max(...known)];
    const room = (high - low) * 0.15 || 1;
    [low, high] = drawable ? [low, high] : [low - room, high + room];
    const last = Math.max(this.values.length, fitted + steps) - 1;
    this.plot = plotIn([this.width, TALL], SIDES, [0, Math.max(1, last)], [low, high]);
  }

  get b() {
    return this.hand ?? this.data.b;
  }

  predict(at) {
    const b = this.b;
    let sum = b[0];
    for (let k = 1; k < b.length; k++) {
      const value = this.values[at - k];
      if (value === null || value === undefined) return null;
      sum += b[k] * value;
    }
    return sum;
  }

  meanSquare() {
    const lags = this.data.b.length - 1;
    let [sum, count] = [0, 0];
    for (let at = lags; at < this.data.fitted; at++) {
      const guess = this.predict(at);
      if (guess === null || this.values[at] === null) continue;
      sum += (this.values[at] - guess) ** 2;
      count++;
    }
    return count ? sum / count : null;
  }

  forecast(steps) {
    const { fitted, b } = this.data;
    const lags = b.length - 1;
    const known = this.values.slice(fitted - lags, fitted);
    if (known.includes(null)) return [];
    for (let h = 0; h < steps; h++) {
      let sum = this.b[0];
      for (let k = 1; k <= lags; k++) sum += this.b[k] * known[known.length - k];
      known.push(sum);
    }
    return known.slice(lags);
  }

  draw() {
    const { words, fitted, b } = this.data;
    const style = styles(this.root);
    const pen = fit(this.canvas, this.plot.width, TALL);
    const { plot, values } = this;
    const low = plot.y.value(plot.bottom);
    const high = plot.y.value(plot.top);
    const last = plot.x.value(plot.right);
    frame(
      pen,
      style,
      plot,
      {
        x: {
          marks: ticks([0, last], this.width < 600 ? 4 : 8)
            .filter((at) => Number.isInteger(at))
            .map((at) => [at, whole(at)]),
          title: words.x_axis,
        },
        y: { marks: ticks([low, high], 4).map((value) => [value, short(value)]), grid: "hair", title: words.y_axis },
      },
      GRID,
    );
    if (b.length && fitted < last + 1) {
      pen.strokeStyle = style("--lv-line");
      pen.setLineDash([2, 3]);
      segment(pen, plot.x(fitted - 0.5), plot.top, plot.x(fitted - 0.5), plot.bottom);
      pen.setLineDash([]);
    }
    line(pen, plot, null, values, { color: style("--lv-ink"), width: 1.6 });
    pen.fillStyle = style("--lv-ink");
    values.forEach((value, at) => value !== null && dot(pen, plot.at(at, value), this.values.length > 120 ? 1.4 : 2.4));
    if (b.length) {
      pen.save();
      pen.beginPath();
      pen.rect(plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top);
      pen.clip();
      const own = values.map((_, at) => (at >= b.length - 1 && at < fitted ? this.predict(at) : null));
      line(pen, plot, null, own, { color: style("--lv-query"), width: 1.6, dash: [5, 3] });
      this.drawForecast(pen, style);
      pen.restore();
    }
    if (this.data.drawable) {
      pen.fillStyle = style("--lv-muted");
      pen.font = font(style, 12);
      pen.textAlign = "right";
      pen.fillText(words.draw, plot.right, plot.top + 4);
    }
    this.tell();
  }

  drawForecast(pen, style) {
    const { fitted } = this.data;
    const guesses = this.forecast(this.step);
    const xs = guesses.map((_, h) => fitted + h);
    line(pen, this.plot, xs, guesses, { color: style("--lv-key"), width: 2 });
    guesses.forEach((guess, h) => {
      const truth = this.values[fitted + h];
      if (truth !== null && truth !== undefined) {
        pen.strokeStyle = style("--lv-key");
        pen.globalAlpha = 0.45;
        pen.lineWidth = 1;
        segment(pen, ...this.plot.at(fitted + h, truth), ...this.plot.at(fitted + h, guess));
        pen.globalAlpha = 1;
      }
      pen.fillStyle = style("--lv-key");
      dot(pen, this.plot.at(fitted + h, guess), 3);
    });
  }

  tell() {
    const { words, b, fitted, steps } = this.data;
    const there = b.length > 0;
    this.error.hidden = !there;
    this.reset.hidden = !there || !this.hand;
    if (!there) return;
    if (this.stale) {
      this.error.textContent = words.drawing;
      this.told.textContent = "";
      return;
    }
    const own = this.meanSquare();
    const best = this.bestSquare ?? own;
    this.error.textContent = sentence(this.hand ? words.moved : words.fitted, { error: figure(own), best: figure(best) });
    if (!steps) return;
    const guesses = this.forecast(this.step);
    if (!guesses.length) {
      this.told.textContent = this.step ? words.gap : words.before;
      return;
    }
    let [sum, count] = [0, 0];
    guesses.forEach((guess, h) => {
      const truth = this.values[fitted + h];
      if (truth === null || truth === undefined) return;
      sum += (guess - truth) ** 2;
      count++;
    });
    const truth = this.values[fitted + this.step - 1];
    const known = truth !== null && truth !== undefined;
    const guess = guesses[this.step - 1];
    this.told.textContent = sentence(known ? words.step : words.beyond, {
      step: whole(this.step),
      guess: figure(guess),
      truth: known ? figure(truth) : "",
      off: known ? figure(guess - truth) : "",
      error: count ? figure(Math.sqrt(sum / count)) : "–",
    });
  }

  grow(step) {
    this.step = step;
    if (this.data) this.soon();
  }

  buildLegend() {
    const { words, b, steps } = this.data;
    const names = [["ink", words.series]];
    if (b.length) names.push(["query", words.predicted]);
    if (steps) names.push(["key", words.forecast]);
    this.legend.replaceChildren(
      ...names.map(([role, name]) => {
        const one = el("span", `name ${role}`, name);
        return one;
      }),
    );
  }

  buildSliders() {
    const { b, words } = this.data;
    const hand = this.hand;
    this.hand = null;
    this.bestSquare = b.length ? this.meanSquare() : null;
    this.hand = hand;
    this.ranges = b.map((fitted, k) => {
      const row = el("div", "slider");
      const half = k ? Math.max(1, 1.5 * Math.abs(fitted)) : this.spread();
      const range = el("input", "scrub", null, { type: "range", min: 0, max: STOPS, step: 1, "aria-label": sentence(words.slider, { k }) });
      const value = el("output", "num");
      range.oninput = () => {
        const now = [...this.b];
        now[k] = fitted + ((Number(range.value) - STOPS / 2) / (STOPS / 2)) * half;
        this.setHand(now, false);
      };
      range.onchange = () => this.send("hand", this.hand);
      const name = el("span", "name", "b");
      name.append(el("sub", null, String(k)));
      row.append(name, range, value);
      this.sliders.append(row);
      return { row, range, value, fitted, half };
    });
    this.sliders.replaceChildren(...this.ranges.map(({ row }) => row));
    this.showHand();
  }

  // How far the constant can be moved: half of the range of the series.
  spread() {
    const known = this.values.filter((value) => value !== null);
    return (Math.max(...known) - Math.min(...known)) / 2 || 1;
  }

  setHand(hand, tell) {
    this.hand = hand;
    this.showHand();
    this.soon();
    if (tell) this.send("hand", hand);
  }

  showHand() {
    this.ranges.forEach(({ range, value, fitted, half }, k) => {
      const share = (this.b[k] - fitted) / half;
      range.value = Math.round(STOPS / 2 + (share * STOPS) / 2);
      range.style.setProperty("--share", `${50 + 50 * Math.max(-1, Math.min(1, share))}%`);
      value.textContent = figure(this.b[k]);
      range.setAttribute("aria-valuetext", value.textContent);
    });
  }

  // ---- drawing the series by hand

  begin(event) {
    if (!this.data?.drawable) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.from = null;
    this.drawing = true;
    this.stale = true;
    this.stroke(event);
  }

  stroke(event) {
    if (!this.drawing) return;
    const [px, py] = spotOf(event, this.canvas);
    const [low, high] = this.data.range;
    const at = Math.max(0, Math.min(this.values.length - 1, Math.round(this.plot.x.value(px))));
    const value = Math.round(Math.max(low, Math.min(high, this.plot.y.value(py))));
    const [at0, value0] = this.from ?? [at, value];
    const span = Math.abs(at - at0);
    for (let k = 0; k <= span; k++) {
      const share = span ? k / span : 1;
      this.values[at0 + Math.sign(at - at0) * k] = Math.round(value0 + (value - value0) * share);
    }
    this.from = [at, value];
    this.soon();
    event.preventDefault();
  }

  finish() {
    if (!this.drawing) return;
    this.drawing = false;
    this.stale = this.values.some((value, at) => value !== this.data.values[at]);
    this.send("drawn", [...this.values]);
    this.soon();
  }

  destroy() {
    this.player.stop();
  }
}
