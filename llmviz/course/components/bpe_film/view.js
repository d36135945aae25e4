// The film of BPE training: a sample text, the pairs that were counted, two curves.

import { drag, line, plotIn, segment } from "../_shared/chart.js";
import { el, fit, follow, live, styles } from "../_shared/common.js";
import { whole } from "../_shared/numbers.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new Film(root, send));
}

const [LEFT, RIGHT, TOKEN, COUNT, TIES, LENGTH] = [0, 1, 2, 3, 4, 5]; // columns of a merge
const [BORN, DIED, ID] = [2, 3, 4]; // columns of a span
const times = (n) => `${whole(n)} ${n === 1 ? "time" : "times"}`;
const CURVE = { tall: 64, left: 1, right: 1, top: 5, bottom: 5 };

class Film {
  constructor(root, send) {
    this.root = root;
    this.player = stepPlayer(root, send, (step) => this.draw(step), 700);
    this.news = el("div", "news", null, { "aria-live": "polite" });
    this.stage = el("div", "stage");
    this.sample = el("div", "sample", null, { role: "img" });
    this.pairs = el("div", "pairs");
    this.bars = el("div", "bars", null, { role: "list" });
    this.rule = el("p", "rule");
    this.pairs.append(el("div", "title", "pairs counted before this merge"), this.bars, this.rule);
    this.curves = el("div", "curves");
    this.lines = [this.curve("tokens in the corpus"), this.curve("vocabulary")];
    const left = el("div", "left");
    left.append(this.sample, this.curves);
    this.stage.append(left, this.pairs);
    root.append(this.news, this.stage);
    this.rows = [];
  }

  update(data, width) {
    this.data = data;
    this.last = data.merges.shape[0];
    this.spans = new Array(data.spans.shape[0]).fill(null);
    this.sample.replaceChildren();
    this.places = data.top.shape[1];
    while (this.rows.length < this.places) this.rows.push(this.bar());
    this.bars.replaceChildren(...this.rows.slice(0, this.places).map((row) => row.box));
    this.measure(width);
    const step = Math.min(follow(this, "step", data.step, this.player.step), this.last);
    // At its usual speed the whole film takes about half a minute.
    const usual = this.last > 400 ? 16 : this.last > 60 ? 4 : 1;
    this.player.configure(this.last, step, {
      speeds: [1, 4, 16, 64],
      usual,
      label: (k) => this.told(k),
      text: (k) => `${whole(k)} / ${whole(data.of)}`,
    });
  }

  layout(width) {
    this.measure(width);
    this.draw(this.player.step);
  }

  measure(width) {
    this.stage.classList.toggle("narrow", width < 640);
    for (const [at, line] of this.lines.entries()) {
      const values = new Float64Array(this.last + 1);
      for (let k = 0; k <= this.last; k++) values[k] = at ? this.data.baseVocab + k : this.length(k);
      line.fill(values);
    }
  }

  merge(k, column) {
    return this.data.merges[(k - 1) * 6 + column];
  }

  name(index) {
    return this.data.names[index];
  }

  length(k) {
    return k ? this.merge(k, LENGTH) : this.data.corpusLength;
  }

  told(k) {
    if (!k) return "before any merge: every byte is a token";
    return `merge ${k}: ${this.name(this.merge(k, LEFT))} + ${this.name(this.merge(k, RIGHT))}`;
  }

  draw(k) {
    this.drawNews(k);
    this.drawSample(k);
    this.drawBars(k);
    for (const line of this.lines) line.mark(k);
  }

  drawNews(k) {
    if (!k) {
      const text = `Before any merge every byte is a token: ${whole(this.data.baseVocab)} of them. Press play.`;
      return this.news.replaceChildren(el("span", "muted", text));
    }
    const chip = (text, kind) => el("span", `piece ${kind}`, text);
    this.news.replaceChildren(
      chip(this.name(this.merge(k, LEFT)), "old"),
      el("span", "muted", "+"),
      chip(this.name(this.merge(k, RIGHT)), "old"),
      el("span", "muted", "→"),
      chip(this.name(this.merge(k, TOKEN)), "new"),
      el("span", "muted", `seen ${times(this.merge(k, COUNT))}; it becomes token ${whole(this.data.baseVocab + k - 1)}`),
    );
  }

  // Compare the tokens of this step with those on the page, both in the order of the text. Old ones
  // are removed, new ones are inserted, the others stay as they are.
  drawSample(k) {
    const table = this.data.spans;
    const alive = (i) => table[i * 5 + BORN] <= k && k < table[i * 5 + DIED];
    let node = this.sample.firstChild;
    let drawn = 0;
    const drop = () => {
      const gone = node;
      node = node.nextSibling;
      gone.remove();
    };
    for (let i = 0; i < this.spans.length; i++) {
      if (!alive(i)) continue;
      drawn += 1;
      const span = (this.spans[i] ??= this.piece(i));
      const fresh = k > 0 && table[i * 5 + BORN] === k;
      if (span.fresh !== fresh) span.classList.toggle("fresh", (span.fresh = fresh));
      while (node && !alive(node.index)) drop();
      if (span === node) node = node.nextSibling;
      else this.sample.insertBefore(span, node);
    }
    while (node) drop();
    this.sample.setAttribute("aria-label", `the sample text in ${whole(drawn)} tokens`);
  }

  piece(i) {
    const at = i * 5;
    const text = this.data.texts[i];
    const span = el("span", this.data.spans[at + BORN] ? "token merged" : "token", text);
    span.index = i;
    if (this.data.spans[at + BORN]) {
      const tint = (this.data.spans[at + ID] < 0 ? this.data.spans[at + BORN] : this.data.spans[at + ID]) % 6;
      span.style.setProperty("--fill", `var(--lv-tint-${tint})`);
    }
    if (!this.data.whole[i]) span.classList.add("bytes");
    if (/^[·⏎⇥]+$/.test(text)) span.classList.add("space");
    return span;
  }

  bar() {
    const box = el("div", "bar", null, { role: "listitem" });
    const name = el("span", "pair");
    const track = el("span", "track");
    const fill = el("span", "fill");
    const count = el("span", "num");
    track.appendChild(fill);
    box.append(name, track, count);
    return { box, name, fill, count };
  }

  drawBars(k) {
    this.pairs.classList.toggle("none", !k);
    if (!k) {
      this.rule.textContent = "The first merge takes the most frequent pair of neighbours.";
      return;
    }
    const top = this.data.top.subarray((k - 1) * this.places * 3, k * this.places * 3);
    const most = Math.max(top[2] || 1, this.merge(k, COUNT));
    this.rows.slice(0, this.places).forEach((row, p) => {
      const [a, b, count] = top.subarray(p * 3, p * 3 + 3);
      row.box.hidden = a < 0;
      if (a < 0) return;
      const chosen = a === this.merge(k, LEFT) && b === this.merge(k, RIGHT);
      row.name.textContent = `${this.name(a)} ${this.name(b)}`;
      row.count.textContent = whole(count);
      row.fill.style.transform = `scaleX(${count / most})`;
      row.box.className = chosen ? "bar chosen" : count === most ? "bar tied" : "bar";
    });
    const ties = this.merge(k, TIES);
    this.rule.textContent =
      ties > 1
        ? `${whole(ties)} pairs share the highest count. The rule for a tie: ${this.data.tieRule || "fixed in advance"}.`
        : "One pair has the highest count: it is merged everywhere.";
  }

  // A curve over all merges; its marker can be dragged.
  curve(title) {
    const box = el("div", "curve");
    const head = el("div", "title", title);
    const value = el("span", "value num");
    head.appendChild(value);
    const field = el("div", "field");
    const canvas = el("canvas", null, null, { "aria-hidden": "true" });
    const marker = el("span", "marker");
    field.append(canvas, marker);
    box.append(head, field);
    this.curves.appendChild(box);
    let values = [];
    let plot = null;
    drag(field, (x) => this.player.move(Math.round((x / field.clientWidth) * (values.length - 1))));
    return {
      fill: (given) => {
        values = given;
        const high = values.reduce((a, b) => Math.max(a, b), 1);
        plot = plotIn([field.clientWidth, CURVE.tall], CURVE, [0, Math.max(1, values.length - 1)], [0, high]);
        const pen = fit(canvas, plot.width, CURVE.tall);
        const style = styles(this.root);
        pen.strokeStyle = style("--lv-hair");
        segment(pen, 0, plot.bottom + 0.5, plot.width, plot.bottom + 0.5);
        pen.lineJoin = "round";
        line(pen, plot, null, values, { color: style("--lv-muted") });
      },
      mark: (k) => {
        marker.style.transform = `translate(${plot.x(k)}px, ${plot.y(values[k])}px)`;
        value.textContent = whole(values[k]);
      },
    };
  }

  destroy() {
    this.player.stop();
  }
}
