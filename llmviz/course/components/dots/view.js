// A dot for every token over two axes; when the numbers change, the dots move to their new places.

import { GRID, closest, font, frame, plotIn, pointer, ring, ticks } from "../_shared/chart.js";
import { css, el, fit, isCalm, live, spotOf, styles } from "../_shared/common.js";
import { number, whole } from "../_shared/numbers.js";

export default function (component) {
  return live(component, (root, send) => new Dots(root, send));
}

const EDGE = { left: 54, right: 14, top: 12, bottom: 44 };
const LOOK = { ...GRID, under: 11, aside: 11, exact: true };
const REACH = 14; // pixels from which a dot is pointed at
const WANDER = 450; // ms

class Dots {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    const box = el("div", "dots");
    this.canvas = el("canvas", null, null, { role: "application" });
    this.canvas.tabIndex = 0;
    this.told = el("div", "told", null, { "aria-live": "polite" });
    box.append(this.canvas, this.told);
    root.append(box);
    this.at = null;
    const hit = (x, y) => this.hit(x, y);
    pointer(this.canvas, hit, (i) => this.look(i));
    this.canvas.addEventListener("click", (event) => this.choose(hit(...spotOf(event, this.canvas))));
    this.canvas.addEventListener("keydown", (event) => this.keys(event));
  }

  update(data, width) {
    const before = this.data;
    this.data = data;
    this.at = null;
    this.order = null;
    this.canvas.setAttribute("aria-label", `${data.words.name}; arrow keys move, Enter chooses`);
    const calm = isCalm();
    const same = before && before.x.length === data.x.length && !calm;
    this.from = same ? { x: this.now.x.slice(), y: this.now.y.slice() } : null;
    this.now = { x: data.x.slice(), y: data.y.slice() };
    this.layout(width);
    if (same) this.wander(performance.now());
  }

  wander(start) {
    cancelAnimationFrame(this.frame);
    const { data, from } = this;
    const step = (time) => {
      const t = Math.min(1, Math.max(0, (time - start) / WANDER));
      const k = t * t * (3 - 2 * t);
      for (let i = 0; i < data.x.length; i++) {
        this.now.x[i] = from.x[i] + (data.x[i] - from.x[i]) * k;
        this.now.y[i] = Number.isFinite(from.y[i]) ? from.y[i] + (data.y[i] - from.y[i]) * k : data.y[i];
      }
      this.draw(t === 1);
      if (t < 1) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  layout(width) {
    const { x, y } = this.data;
    let [low, high, far] = [0, 1, 1];
    for (let i = 0; i < x.length; i++) {
      if (y[i] < low) low = y[i];
      if (y[i] > high) high = y[i];
      if (x[i] > far) far = x[i];
    }
    this.plot = plotIn([width, width < 600 ? 300 : 340], EDGE, [0, far * 1.02], [low - 0.04, high + 0.04]);
    this.ranges = [
      [0, far * 1.02],
      [low - 0.04, high + 0.04],
    ];
    this.draw(true);
    this.look(null);
  }

  place(i) {
    return this.plot.at(this.now.x[i], this.now.y[i]);
  }

  draw(names) {
    const { plot, ranges } = this;
    const pen = fit(this.canvas, plot.width, plot.height);
    this.pen = pen;
    const { axes } = this.data;
    frame(
      pen,
      styles(this.root),
      plot,
      {
        x: { marks: ticks(ranges[0], plot.width < 600 ? 4 : 7).map((value) => [value, whole(value)]), grid: "hair", title: axes[0] },
        y: { marks: ticks(ranges[1], 5).map((value) => [value, number(value, 2)]), grid: "hair", title: axes[1] },
      },
      LOOK,
    );
    pen.fillStyle = css(this.root, "--lv-residual");
    pen.globalAlpha = 0.45;
    for (let i = 0; i < this.data.x.length; i++) {
      const [x, y] = this.place(i);
      if (Number.isFinite(y)) pen.fillRect(x - 1.5, y - 1.5, 3, 3);
    }
    pen.globalAlpha = 1;
    this.marks(pen, names);
  }

  // Named dots; each name goes to the first side where no other stands.
  marks(pen, names) {
    const taken = [];
    pen.font = font(styles(this.root), 13);
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    for (const [i, role] of this.data.marks) {
      const [x, y] = this.place(i);
      pen.beginPath();
      pen.arc(x, y, 5, 0, 7);
      pen.fillStyle = css(this.root, `--lv-${role}`);
      pen.fill();
      pen.strokeStyle = css(this.root, "--lv-ink");
      pen.stroke();
      taken.push([x - 6, y - 6, x + 6, y + 6]);
    }
    if (!names) return;
    pen.fillStyle = css(this.root, "--lv-ink");
    for (const [i] of this.data.marks) {
      const [x, y] = this.place(i);
      const label = this.data.labels[i];
      const wide = pen.measureText(label).width;
      const sides = [
        [9, 0],
        [9, -14],
        [9, 14],
        [-9 - wide, 0],
        [-9 - wide, -14],
        [-9 - wide, 14],
        [9, -28],
        [9, 28],
      ];
      const boxes = sides.map(([dx, dy]) => [x + dx, y + dy - 8, x + dx + wide, y + dy + 8]);
      const fits = (b) =>
        b[0] > EDGE.left &&
        b[2] < this.plot.width &&
        b[1] > 0 &&
        !taken.some((t) => b[0] < t[2] && t[0] < b[2] && b[1] < t[3] && t[1] < b[3]);
      const box = boxes.find(fits) ?? boxes[0];
      taken.push(box);
      pen.fillText(label, box[0], (box[1] + box[3]) / 2);
    }
  }

  hit(px, py) {
    return closest(this.data.x.length, (i) => this.place(i), [px, py], REACH);
  }

  look(i) {
    if (i === this.at && i !== null) return;
    if (this.at !== null || i !== null) this.draw(true);
    this.at = i;
    const { words, labels, x, y } = this.data;
    if (i === null) return this.told.replaceChildren(el("span", "muted", words.hint));
    this.pen.strokeStyle = css(this.root, "--lv-ink");
    this.pen.lineWidth = 2;
    ring(this.pen, this.place(i), 7);
    const text = words.dot.replace("{x}", whole(x[i])).replace("{y}", number(y[i], 3));
    this.told.replaceChildren(el("b", null, labels[i]), el("span", null, ` ${text}`));
  }

  choose(i) {
    if (i === null) return;
    this.look(i);
    this.send("chosen", [i, (this.clicks = (this.clicks ?? 0) + 1)]);
  }

  // From the highest dot down, and back.
  keys(event) {
    const { y } = this.data;
    this.order ??= [...y.keys()].filter((i) => Number.isFinite(y[i])).sort((a, b) => y[b] - y[a]);
    const now = this.at === null ? -1 : this.order.indexOf(this.at);
    const to = { ArrowDown: now + 1, ArrowRight: now + 1, ArrowUp: now - 1, ArrowLeft: now - 1, Home: 0, End: this.order.length - 1 }[
      event.key
    ];
    if (to !== undefined) this.look(this.order[Math.max(0, Math.min(this.order.length - 1, to))]);
    else if ((event.key === "Enter" || event.key === " ") && this.at !== null) this.choose(this.at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  destroy() {
    cancelAnimationFrame(this.frame);
  }
}
