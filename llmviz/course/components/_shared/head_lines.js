// Tokens on the left ask, tokens on the right are asked; a line is as strong as its weight.
// Shared by the head view and by the grid of heads, which shows the chosen head with it.

import { pointer, shorten } from "./chart.js";
import { css, el, fit, rgb } from "./common.js";
import { percent } from "./numbers.js";

const LINES = { row: 24, small: 15, faint: 5, gap: 220 };

export class HeadLines {
  // `cells(q, k)` gives a weight from 0 to 255.
  constructor(root) {
    this.root = root;
    this.box = el("div", "head-lines");
    this.told = el("p", "lines-told", null, { "aria-live": "polite" });
    this.canvas = el("canvas", "lines");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    const frame = el("div", "lines-frame");
    frame.appendChild(this.canvas);
    this.box.append(this.told, frame);
    root.appendChild(this.box);
    this.spot = null;
    pointer(
      this.canvas,
      (x, y) => this.hit(x, y),
      (spot) => this.point(spot),
    );
    this.canvas.addEventListener("keydown", (event) => this.keys(event));
  }

  show(head, width) {
    this.head = head;
    this.width = Math.min(width, 720);
    const { tokens, keyTokens } = head;
    const most = Math.max(tokens.length, keyTokens.length);
    this.step = most > 80 ? LINES.small : LINES.row;
    this.height = most * this.step + 26;
    this.canvas.setAttribute(
      "aria-label",
      `${head.title}: lines from ${tokens.length} tokens that ask to ${keyTokens.length} that are asked; arrow keys move`,
    );
    if (this.spot && this.spot.at >= (this.spot.side ? keyTokens : tokens).length) this.spot = null;
    this.draw();
  }

  draw() {
    const { tokens, keyTokens, cells, marks } = this.head;
    const pen = fit(this.canvas, this.width, this.height);
    const font = css(this.root, "--st-font") || "sans-serif";
    const ink = css(this.root, "--lv-ink");
    const muted = css(this.root, "--lv-muted");
    const violet = rgb(css(this.root, "--lv-weights"));
    const [left, right] = this.edges();
    const y = (i) => 26 + (i + 0.5) * this.step;
    const spot = this.spot;
    pen.lineCap = "round";
    for (let q = 0; q < tokens.length; q++) {
      if (spot && !spot.side && spot.at !== q) continue;
      for (let k = 0; k < keyTokens.length; k++) {
        if (spot?.side && spot.at !== k) continue;
        const weight = cells(q, k);
        if (weight < (spot ? 1 : LINES.faint)) continue;
        pen.strokeStyle = `rgba(${violet.join()}, ${0.08 + (0.92 * weight) / 255})`;
        pen.lineWidth = 0.6 + (3.6 * weight) / 255;
        pen.beginPath();
        pen.moveTo(left + 6, y(q));
        pen.bezierCurveTo(left + (right - left) * 0.4, y(q), right - (right - left) * 0.4, y(k), right - 6, y(k));
        pen.stroke();
      }
    }
    for (const [q, k] of marks ?? []) this.mark(pen, left, right, y(q), y(k), !spot || spot.at === (spot.side ? k : q));
    pen.textBaseline = "middle";
    pen.font = `italic 11px ${font}`;
    pen.fillStyle = muted;
    pen.textAlign = "right";
    pen.fillText("asks", left, 9);
    pen.textAlign = "left";
    pen.fillText("is asked", right, 9);
    const size = this.step < 20 ? 11 : 13.5;
    const side = (texts, x, align, which) =>
      texts.forEach((text, i) => {
        const on = spot?.side === which && spot.at === i;
        const share = this.share(which, i);
        pen.font = `${on ? "700 " : ""}${size}px ${font}`;
        pen.fillStyle = ink;
        pen.globalAlpha = spot && !on && share === 0 ? 0.35 : 1;
        pen.textAlign = align;
        pen.fillText(shorten(pen, text, 88), x, y(i));
        if (share) {
          pen.font = `11px ${css(this.root, "--mono") || "monospace"}`;
          pen.fillStyle = css(this.root, "--lv-weights-text");
          pen.fillText(percent(share / 255, 0), align === "right" ? left - 96 : right + 96, y(i));
        }
        pen.globalAlpha = 1;
      });
    side(tokens, left - 2, "right", 0);
    side(keyTokens, right + 2, "left", 1);
    this.say();
  }

  // The weight beside a token of the other side than the one pointed at; 0 for none to show.
  share(which, i) {
    const spot = this.spot;
    if (!spot || spot.side === which) return 0;
    const weight = spot.side ? this.head.cells(i, spot.at) : this.head.cells(spot.at, i);
    return weight >= 2 ? weight : 0;
  }

  mark(pen, left, right, from, to, on) {
    pen.save();
    pen.globalAlpha = on ? 1 : 0.15;
    pen.strokeStyle = css(this.root, "--lv-accent");
    pen.fillStyle = css(this.root, "--lv-accent");
    pen.setLineDash([1, 6]);
    pen.lineWidth = 2.5;
    pen.beginPath();
    pen.moveTo(left + 6, from);
    pen.bezierCurveTo(left + (right - left) * 0.4, from, right - (right - left) * 0.4, to, right - 6, to);
    pen.stroke();
    pen.restore();
  }

  edges() {
    const side = Math.min(140, Math.max(92, Math.round(this.width * 0.28)));
    return [side, Math.max(side + 60, Math.min(this.width - side, side + LINES.gap + 120))];
  }

  hit(x, y) {
    const [left, right] = this.edges();
    const side = x > (left + right) / 2 ? 1 : 0;
    const at = Math.floor((y - 26) / this.step);
    const texts = side ? this.head.keyTokens : this.head.tokens;
    return at >= 0 && at < texts.length ? { side, at } : null;
  }

  point(spot) {
    if (JSON.stringify(spot) === JSON.stringify(this.spot) || !this.head) return;
    this.spot = spot;
    this.draw();
  }

  say() {
    const { tokens, keyTokens, cells, title } = this.head;
    const spot = this.spot;
    if (!spot) return this.told.replaceChildren(el("b", null, title), el("span", "muted", " · point at a token to see only its lines"));
    const others = spot.side ? tokens : keyTokens;
    const weight = (i) => (spot.side ? cells(i, spot.at) : cells(spot.at, i));
    let best = 0;
    others.forEach((_, i) => weight(i) > weight(best) && (best = i));
    const share = percent(weight(best) / 255, 0);
    const token = (spot.side ? keyTokens : tokens)[spot.at];
    const text = spot.side ? ` is used most, ${share}, by ` : ` takes most, ${share}, from `;
    this.told.replaceChildren(el("b", null, `“${token}”`), el("span", null, text), el("b", null, `“${others[best]}”`));
  }

  keys(event) {
    const spot = this.spot ?? { side: 0, at: -1 };
    const last = (side) => (side ? this.head.keyTokens : this.head.tokens).length - 1;
    const to = {
      ArrowDown: { side: spot.side, at: Math.min(last(spot.side), spot.at + 1) },
      ArrowUp: { side: spot.side, at: Math.max(0, spot.at - 1) },
      ArrowRight: { side: 1, at: Math.max(0, Math.min(last(1), spot.at)) },
      ArrowLeft: { side: 0, at: Math.max(0, Math.min(last(0), spot.at)) },
      Escape: null,
    }[event.key];
    if (to === undefined) return;
    this.point(to);
    event.preventDefault();
    event.stopPropagation();
  }
}
