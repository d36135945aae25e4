// A dot for every token over two axes; they wander to where new numbers put them.

import { css, eachFrame, el, fit, live, number, whole } from "../_shared/common.js";

export default function (component) {
  return live(component, (root, send) => new Dots(root, send));
}

const EDGE = { left: 54, right: 14, top: 12, bottom: 44 };
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
    const look = eachFrame((event) => this.look(this.hit(event)));
    this.canvas.addEventListener("pointermove", (event) => look(event));
    this.canvas.addEventListener("pointerleave", () => this.look(null));
    this.canvas.addEventListener("blur", () => this.look(null));
    this.canvas.addEventListener("click", (event) => this.choose(this.hit(event)));
    this.canvas.addEventListener("keydown", (event) => this.keys(event));
  }

  update(data, width) {
    const before = this.data;
    this.data = data;
    this.at = null;
    this.order = null;
    this.canvas.setAttribute("aria-label", `${data.words.name}; arrow keys move, Enter chooses`);
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
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
    this.size = [width, width < 600 ? 300 : 340];
    const { x, y } = this.data;
    let [low, high, far] = [0, 1, 1];
    for (let i = 0; i < x.length; i++) {
      if (y[i] < low) low = y[i];
      if (y[i] > high) high = y[i];
      if (x[i] > far) far = x[i];
    }
    this.range = { low: low - 0.04, high: high + 0.04, far: far * 1.02 };
    this.draw(true);
    this.look(null);
  }

  place(i) {
    const [w, h] = this.size;
    const { low, high, far } = this.range;
    const x = EDGE.left + (this.now.x[i] / far) * (w - EDGE.left - EDGE.right);
    const y = EDGE.top + ((high - this.now.y[i]) / (high - low)) * (h - EDGE.top - EDGE.bottom);
    return [x, y];
  }

  draw(names) {
    const pen = fit(this.canvas, ...this.size);
    this.pen = pen;
    this.frameLines(pen);
    pen.fillStyle = css(this.root, "--lv-residual");
    pen.globalAlpha = 0.45;
    for (let i = 0; i < this.data.x.length; i++) {
      const [x, y] = this.place(i);
      if (Number.isFinite(y)) pen.fillRect(x - 1.5, y - 1.5, 3, 3);
    }
    pen.globalAlpha = 1;
    this.marks(pen, names);
  }

  frameLines(pen) {
    const [w, h] = this.size;
    const { low, high, far } = this.range;
    const font = css(this.root, "--st-font") || "sans-serif";
    pen.strokeStyle = css(this.root, "--lv-hair");
    pen.fillStyle = css(this.root, "--lv-muted");
    pen.font = `11.5px ${font}`;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    const bottom = h - EDGE.bottom;
    for (const value of ticks(low, high, 5)) {
      const y = EDGE.top + ((high - value) / (high - low)) * (bottom - EDGE.top);
      this.line(pen, EDGE.left, y, w - EDGE.right, y);
      pen.textAlign = "right";
      pen.fillText(number(value, 2), EDGE.left - 6, y);
    }
    for (const value of ticks(0, far, w < 600 ? 4 : 7)) {
      const x = EDGE.left + (value / far) * (w - EDGE.left - EDGE.right);
      this.line(pen, x, EDGE.top, x, bottom);
      pen.textAlign = "center";
      pen.fillText(whole(value), x, bottom + 12);
    }
    pen.fillStyle = css(this.root, "--lv-ink");
    pen.font = `12.5px ${font}`;
    pen.fillText(this.data.axes[0], (EDGE.left + w - EDGE.right) / 2, h - 11);
    pen.save();
    pen.translate(11, (EDGE.top + bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(this.data.axes[1], 0, 0);
    pen.restore();
  }

  line(pen, x0, y0, x1, y1) {
    pen.beginPath();
    pen.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
    pen.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
    pen.stroke();
  }

  // Named dots; each name goes to the first side where no other stands.
  marks(pen, names) {
    const taken = [];
    pen.font = `13px ${css(this.root, "--st-font") || "sans-serif"}`;
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
        b[0] > EDGE.left && b[2] < this.size[0] && b[1] > 0 && !taken.some((t) => b[0] < t[2] && t[0] < b[2] && b[1] < t[3] && t[1] < b[3]);
      const box = boxes.find(fits) ?? boxes[0];
      taken.push(box);
      pen.fillText(label, box[0], (box[1] + box[3]) / 2);
    }
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let [best, near] = [null, REACH ** 2];
    for (let i = 0; i < this.data.x.length; i++) {
      const [x, y] = this.place(i);
      const gap = (x - px) ** 2 + (y - py) ** 2;
      if (gap < near) [best, near] = [i, gap];
    }
    return best;
  }

  look(i) {
    if (i === this.at && i !== null) return;
    if (this.at !== null || i !== null) this.draw(true);
    this.at = i;
    const { words, labels, x, y } = this.data;
    if (i === null) return this.told.replaceChildren(el("span", "muted", words.hint));
    const [px, py] = this.place(i);
    this.pen.beginPath();
    this.pen.arc(px, py, 7, 0, 7);
    this.pen.strokeStyle = css(this.root, "--lv-ink");
    this.pen.lineWidth = 2;
    this.pen.stroke();
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

// Round numbers between two values, about `count` of them.
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}
