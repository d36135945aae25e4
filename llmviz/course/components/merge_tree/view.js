// A word's merges as a tree over its bytes, in the order of their ranks. Below it: the tokens that
// another rule gives, the longest known piece from the left.

import { el, follow, live, svg } from "../_shared/common.js";
import { whole } from "../_shared/numbers.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new MergeTree(root, send));
}

const TREE = { column: 52, level: 50, base: 34, pad: 12 };

class MergeTree {
  constructor(root, send) {
    this.root = root;
    this.player = stepPlayer(root, send, (step) => this.draw(step), 1100);
    this.told = el("p", "told", null, { "aria-live": "polite" });
    this.frame = el("div", "frame");
    this.rows = el("div", "rows");
    root.append(this.told, this.frame, this.rows);
  }

  update(data) {
    this.data = data;
    this.place();
    this.build();
    const last = data.merges.length;
    const step = Math.min(follow(this, "step", data.step, this.player.step), last);
    this.player.configure(last, step, { label: (k) => this.plain(k) });
  }

  layout() {
    this.draw(this.player.step);
  }

  // Where each piece stands: leaves side by side, a merge above the middle of its children.
  place() {
    const { leaves, merges, texts } = this.data;
    this.x = [];
    this.level = [];
    let at = TREE.pad;
    for (let i = 0; i < leaves; i++) {
      const wide = Math.max(TREE.column, this.wide(i) + 10);
      this.x.push(at + wide / 2);
      this.level.push(0);
      at += wide;
    }
    merges.forEach(([left, right]) => {
      this.x.push((this.x[left] + this.x[right]) / 2);
      this.level.push(Math.max(this.level[left], this.level[right]) + 1);
    });
    this.size = [at + TREE.pad, TREE.base + Math.max(0, ...this.level) * TREE.level + 40];
    this.parent = new Array(texts.length).fill(null);
    merges.forEach(([left, right], k) => (this.parent[left] = this.parent[right] = leaves + k));
  }

  wide(i) {
    return [...this.data.texts[i]].length * 9 + 14;
  }

  y(i) {
    return this.size[1] - TREE.base - this.level[i] * TREE.level;
  }

  build() {
    const [width, height] = this.size;
    const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
    this.picture = picture;
    this.arches = this.data.merges.map(([left, right], k) => {
      const node = this.data.leaves + k;
      const group = svg("g", { class: "arch" });
      for (const child of [left, right]) group.appendChild(svg("path", { d: this.arm(node, child) }));
      picture.appendChild(group);
      return group;
    });
    this.pieces = this.data.texts.map((text, i) => this.piece(text, i));
    this.pieces.forEach((piece) => picture.appendChild(piece));
    this.frame.replaceChildren(picture);
  }

  // From a merge out to its child's column and down, with a rounded corner.
  arm(node, child) {
    const [x0, y0, x1, y1] = [this.x[node], this.y(node), this.x[child], this.y(child) - 14];
    const r = Math.min(12, Math.abs(x1 - x0), Math.max(1, y1 - y0));
    const side = Math.sign(x1 - x0);
    return `M${x0} ${y0} H${x1 - side * r} Q${x1} ${y0} ${x1} ${y0 + r} V${y1}`;
  }

  piece(text, i) {
    const group = svg("g", { class: i < this.data.leaves ? "piece leaf" : "piece", transform: `translate(${this.x[i]} ${this.y(i)})` });
    const wide = this.wide(i);
    group.appendChild(svg("rect", { x: -wide / 2, y: -14, width: wide, height: 28, rx: 6 }));
    group.appendChild(svg("text", { y: 5 }, text));
    const id = this.data.ids?.[i];
    if (id !== undefined && i < this.data.leaves) group.appendChild(svg("text", { y: 27, class: "id" }, id));
    if (i >= this.data.leaves) {
      const [, , rank] = this.data.merges[i - this.data.leaves];
      // Beside the arm that comes down from above, not under it.
      const order = svg("text", { x: -6, y: -19, class: "order" }, `${i - this.data.leaves + 1}.`);
      const label = svg("text", { x: 6, y: -19, class: "rank" }, `rank ${whole(rank)}`);
      group.append(order, label);
    }
    return group;
  }

  plain(k) {
    if (!k) return "before any merge";
    const [left, right, rank] = this.data.merges[k - 1];
    return `merge ${k}: ${this.data.texts[left]} and ${this.data.texts[right]}, rank ${rank}`;
  }

  // Pieces that stand for themselves after k merges, from left to right.
  standing(k) {
    const count = this.data.leaves + k;
    const alive = [];
    for (let i = 0; i < count; i++) if (this.parent[i] === null || this.parent[i] >= count) alive.push(i);
    return alive.sort((a, b) => this.first(a) - this.first(b));
  }

  first(i) {
    while (i >= this.data.leaves) i = this.data.merges[i - this.data.leaves][0];
    return i;
  }

  draw(k) {
    const count = this.data.leaves + k;
    const alive = new Set(this.standing(k));
    const next = this.data.merges[k];
    this.pieces.forEach((piece, i) => {
      piece.classList.toggle("later", i >= count);
      piece.classList.toggle("inside", i < count && !alive.has(i));
      piece.classList.toggle("fresh", k > 0 && i === count - 1);
      piece.classList.toggle("next", Boolean(next) && (i === next[0] || i === next[1]));
    });
    this.arches.forEach((arch, m) => {
      arch.classList.toggle("later", m >= k);
      arch.classList.toggle("fresh", m === k - 1);
    });
    this.picture.setAttribute("aria-label", this.plain(k));
    this.tell(k, next);
    this.drawRows(k, [...alive]);
  }

  tell(k, next) {
    if (!next) {
      const count = this.standing(k).length;
      const text = this.data.merges.length
        ? `No rule joins any two neighbours now: ${count} ${count === 1 ? "token" : "tokens"}.`
        : "No rule joins any two neighbours: every byte stays a token.";
      this.told.textContent = text;
      return;
    }
    const word = (i) => el("code", null, this.data.texts[i]);
    this.told.replaceChildren(
      `Next: ${k + 1}. `,
      word(next[0]),
      " and ",
      word(next[1]),
      `, because their rule has the lowest rank (${whole(next[2])}) of all neighbours.`,
    );
  }

  drawRows(k, alive) {
    const parts = [];
    const lane = (title, note) => {
      const box = el("div", "lane");
      box.appendChild(el("span", "lane-name", title));
      const line = el("span", "lane-line");
      box.appendChild(line);
      if (note) box.appendChild(el("span", "muted lane-note", note));
      parts.push(box);
      return line;
    };
    const now = lane("by rank", `${alive.length} ${alive.length === 1 ? "token" : "tokens"}`);
    const ranks = new Map((this.data.candidates?.[k] ?? []).map(([left, rank]) => [left, rank]));
    const known = [...ranks.values()].filter((rank) => rank !== null);
    alive.forEach((i, at) => {
      const chip = el("span", i >= this.data.leaves ? "chip made" : "chip", this.data.texts[i]);
      if (k > 0 && i === this.data.leaves + k - 1) chip.classList.add("fresh");
      if (this.data.ids) chip.title = `id ${this.data.ids[i]}`;
      now.appendChild(chip);
      if (at + 1 < alive.length && ranks.has(i)) {
        const rank = ranks.get(i);
        const best = rank !== null && rank === Math.min(...known);
        now.appendChild(el("span", best ? "between best num" : "between num", rank === null ? "–" : whole(rank)));
      }
    });
    if (this.data.greedy) {
      const note = `${this.data.greedy.length} ${this.data.greedy.length === 1 ? "token" : "tokens"}`;
      const line = lane("greedy", this.data.greedyNote ? `${note}: ${this.data.greedyNote}` : note);
      for (const text of this.data.greedy) line.appendChild(el("span", "chip made", text));
    }
    this.rows.replaceChildren(...parts);
  }

  destroy() {
    this.player.stop();
  }
}
