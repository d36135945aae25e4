// Shared by views of descents: a slider of learning rates with what each of them leads to, and the
// losses over the steps.

import { drag, scale } from "../_shared/chart.js";
import { css, el, fit, mix, rgb, rgbText, svg } from "../_shared/common.js";
import { powerOfTen, whole } from "../_shared/numbers.js";
import { moveThumb } from "../_shared/slider.js";

const THUMB = 15; // pixels of a slider's thumb: a track's stops lie between its halves

export function hue(role) {
  return role === "ink" ? "var(--lv-ink)" : `var(--lv-${role})`;
}

function rate(x) {
  return x >= 100 ? x.toFixed(0) : x >= 1 ? x.toFixed(2) : x >= 0.01 ? x.toFixed(3) : x.toFixed(4);
}

// The number of a walker's steps that are done at a place of the player.
export function stepsAt(walker, place) {
  let k = 0;
  const last = walker.when.length - 1;
  if (walker.when[last] === last) return Math.min(place, last);
  while (k < last && walker.when[k + 1] <= place) k++;
  return k;
}

// What is left of the way down, 1 at the start, 0 at the lowest: for the colour of a rate.
function left(walker, stop, floor) {
  const n = walker.losses.shape[1];
  const first = walker.losses[stop * n] - floor;
  return Math.max(0, (walker.losses[stop * n + n - 1] - floor) / first);
}

export class RateStrip {
  constructor(root, { onMove, onRest }) {
    this.root = root;
    this.onMove = onMove;
    this.onRest = onRest;
    this.box = el("div", "rates");
    this.name = el("span", "rate-name");
    this.range = el("input", "scrub", null, { type: "range", min: 0, step: 1 });
    this.value = el("output", "rate-value num");
    this.best = el("button", "press", null, { type: "button" });
    root.appendChild(this.box);
    this.range.oninput = () => this.all(Number(this.range.value));
    this.range.onchange = () => this.onRest(this.stops);
    this.best.onclick = () => {
      this.move(this.data.walkers.map((walker) => walker.best));
      this.onRest(this.stops);
    };
  }

  update(data) {
    this.data = data;
    const { words, rates, walkers } = data;
    this.name.textContent = words.rate;
    this.best.textContent = words.best;
    this.best.hidden = walkers.length < 2;
    this.range.max = rates.length - 1;
    this.range.setAttribute("aria-label", words.rate);
    const parts = [this.name, this.range, this.value];
    this.lines = walkers.map((walker, w) => {
      const name = el("span", "rate-name");
      const dot = el("span", "dot");
      dot.style.background = hue(walker.role);
      name.append(dot, el("span", null, walker.label));
      const canvas = el("canvas", "strip", null, { title: words.strip, "data-walker": walker.name });
      const value = el("span", "rate-value num");
      drag(canvas, (x) => {
        const share = (x - THUMB / 2) / (canvas.clientWidth - THUMB);
        const stop = Math.max(0, Math.min(rates.length - 1, Math.round(share * (rates.length - 1))));
        const stops = [...this.stops];
        stops[w] = stop;
        this.move(stops);
      });
      canvas.onpointerup = () => this.onRest(this.stops);
      parts.push(name, canvas, value);
      return { canvas, value };
    });
    const foot = el("div", "rates-foot");
    foot.append(this.legend(words), this.best);
    this.box.replaceChildren(...parts);
    this.foot?.remove();
    this.foot = foot;
    this.root.appendChild(foot);
  }

  legend(words) {
    const box = el("span", "legend");
    for (const [kind, text] of [
      ["full", words.settled],
      ["part", words.under_way],
      ["gone", words.gone],
    ]) {
      box.append(el("span", `sample ${kind}`), el("span", null, text));
    }
    return box;
  }

  all(stop) {
    this.move(this.data.walkers.map(() => stop));
  }

  move(stops) {
    this.set(stops);
    this.onMove(stops);
  }

  set(stops) {
    this.stops = stops;
    const { rates } = this.data;
    const same = stops.every((stop) => stop === stops[0]);
    moveThumb(this.range, stops[0], rates.length - 1);
    this.value.textContent = same ? rate(rates[stops[0]]) : this.data.words.own_rates;
    this.range.setAttribute("aria-valuetext", this.value.textContent);
    this.range.classList.toggle("apart", !same);
    this.paint();
  }

  paint() {
    const { walkers, rates, floor } = this.data;
    const paper = rgb(css(this.root, "--st-background-color") || css(this.root, "--lv-surface"));
    const line = css(this.root, "--lv-line");
    const ink = css(this.root, "--lv-ink");
    walkers.forEach((walker, w) => {
      const { canvas, value } = this.lines[w];
      const width = Math.max(60, canvas.parentElement.clientWidth ? canvas.clientWidth : 60);
      const height = 18;
      const pen = fit(canvas, width, height);
      canvas.style.width = "";
      const own = rgb(css(this.root, walker.role === "ink" ? "--lv-ink" : `--lv-${walker.role}`));
      const gap = (width - THUMB) / Math.max(1, rates.length - 1);
      const last = walker.losses.shape[1] - 1;
      for (let k = 0; k < rates.length; k++) {
        const x = THUMB / 2 + (k - 0.5) * gap;
        if (walker.lasted[k] < last || left(walker, k, floor) > 1) {
          pen.fillStyle = line;
          for (let y = 1; y < 15; y += 4) pen.fillRect(x, y + 1, gap - 1, 1.2);
          continue;
        }
        // Three decades of what is left, from the start's loss to a thousandth of it.
        const done = Math.min(1, Math.max(0, -Math.log10(Math.max(1e-9, left(walker, k, floor))) / 3));
        pen.fillStyle = rgbText(mix(paper, own, walker.settled[k] ? 0.95 : 0.1 + 0.5 * done));
        pen.fillRect(x, 1, gap - 1, 15);
      }
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      pen.strokeRect(THUMB / 2 + (this.stops[w] - 0.5) * gap, 1, Math.max(3, gap - 1), 15);
      value.textContent = rate(rates[this.stops[w]]);
      value.classList.toggle("gone", walker.lasted[this.stops[w]] < last);
    });
  }
}

// Losses above the lowest one there is, on a logarithmic axis, all steps at once.
export class LossChart {
  constructor(root) {
    this.root = root;
    this.box = el("figure", "chart");
    root.appendChild(this.box);
  }

  update(data, width, tall) {
    this.data = data;
    this.width = Math.max(260, width);
    this.tall = tall;
    this.last = Math.max(...data.walkers.map((walker) => walker.when[walker.when.length - 1]));
    let [least, most] = [Infinity, 0];
    for (const walker of data.walkers) {
      most = Math.max(most, walker.losses[0] - data.floor);
      for (const loss of walker.losses) if (loss - data.floor > 0) least = Math.min(least, loss - data.floor);
    }
    this.high = Math.ceil(Math.log10(most) + 0.15);
    this.low = Math.max(this.high - data.decades, Math.min(this.high - 2, Math.floor(Math.log10(least))));
    this.x = scale([0, Math.max(1, this.last)], [52, this.width - 12]);
    this.fall = scale([10 ** this.low, 10 ** this.high], [tall - 40, 8], true);
    const picture = svg("svg", { width: this.width, height: tall, role: "img", "aria-label": data.words.chart });
    for (let d = this.low; d <= this.high; d++) {
      const y = this.y(10 ** d);
      picture.append(svg("path", { class: "grid-line", d: `M48 ${y}H${this.width - 8}` }));
      if ((this.high - d) % 2 === 0) picture.append(svg("text", { class: "small", x: 42, y: y + 3, "text-anchor": "end" }, decade(d)));
    }
    for (const share of [0, 0.5, 1]) {
      const step = Math.round(share * this.last);
      picture.append(svg("text", { class: "small", x: this.x(step), y: this.tall - 22, "text-anchor": "middle" }, whole(step)));
    }
    picture.append(svg("text", { class: "small", x: (48 + this.width) / 2, y: this.tall - 6, "text-anchor": "middle" }, data.words.steps));
    this.lines = data.walkers.map((walker) => {
      const path = svg("path", { class: "loss-line" });
      path.style.stroke = hue(walker.role);
      picture.append(path);
      return path;
    });
    this.here = svg("path", { class: "here" });
    this.dots = data.walkers.map((walker) => {
      const dot = svg("circle", { r: 4 });
      dot.style.fill = hue(walker.role);
      picture.append(dot);
      return dot;
    });
    picture.append(this.here);
    this.box.replaceChildren(el("figcaption", "small-head", data.words.chart), picture);
  }

  // A loss outside the decades stands on the edge.
  y(gap) {
    return Math.min(this.tall - 40, Math.max(8, this.fall(gap)));
  }

  paint(stops, place, followed) {
    const { walkers, floor } = this.data;
    walkers.forEach((walker, w) => {
      const n = walker.losses.shape[1];
      const end = Math.min(n - 1, walker.lasted[stops[w]] + 1);
      const gap = (k) => walker.losses[stops[w] * n + Math.min(k, walker.lasted[stops[w]])] - floor;
      // Outside the decades the line leaves the picture; lying along an edge, it would tell of a loss
      // that falls, or rises, no further.
      const side = (k) => (gap(k) > 10 ** this.high) - (gap(k) < 10 ** this.low);
      let d = "";
      for (let k = 0; k <= Math.min(end, walker.lasted[stops[w]]); k++)
        d += `${k && !(side(k) && side(k) === side(k - 1)) ? "L" : "M"}${this.x(walker.when[k]).toFixed(1)} ${this.y(gap(k)).toFixed(1)}`;
      if (walker.lasted[stops[w]] < n - 1) d += `L${this.x(walker.when[end]).toFixed(1)} 0`;
      this.lines[w].setAttribute("d", d);
      this.lines[w].classList.toggle("strong", w === followed);
      const k = stepsAt(walker, place);
      this.dots[w].setAttribute("cx", this.x(walker.when[k]));
      this.dots[w].setAttribute("cy", this.y(gap(k)));
      this.dots[w].style.display = k > walker.lasted[stops[w]] || side(k) ? "none" : "";
    });
    this.here.setAttribute("d", `M${this.x(place)} 6V${this.tall - 38}`);
  }
}

function decade(d) {
  return d >= -2 && d <= 3 ? String(Number((10 ** d).toPrecision(1))) : powerOfTen(d);
}
