// The strip from 0 to 1 with the random numbers that fell on it. Below, how often each token was
// taken (bar) beside its probability (mark) and two standard deviations to each side (whisker).

import { el, live, wordFits } from "../_shared/common.js";
import { number, percent, whole } from "../_shared/numbers.js";

export default function (component) {
  return live(component, (root) => new Dice(root));
}

const PACE = 34; // milliseconds between two numbers that fall

class Dice {
  constructor(root) {
    this.root = root;
    this.line = el("div", "line");
    this.falls = el("div", "falls");
    this.last = el("p", "last", null, { "aria-live": "polite" });
    this.rows = el("div", "rows");
    const ends = el("div", "ends num");
    ends.append(el("span", null, "0"), el("span", null, "u"), el("span", null, "1"));
    root.append(this.last, this.falls, this.line, ends, this.rows);
  }

  update(data) {
    const before = this.data?.draws ?? 0;
    const same = this.data && JSON.stringify(this.data.strip) === JSON.stringify(data.strip);
    this.data = data;
    clearTimeout(this.timer);
    this.strip();
    this.bars();
    const n = data.us.length;
    const fresh = same && data.draws > before ? Math.min(n, data.draws - before) : 0;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.fall(still ? n : n - fresh);
  }

  // The numbers that are new fall one after the other, the earlier ones lie there already.
  fall(from) {
    this.falls.replaceChildren();
    const { us, taken } = this.data;
    const drop = (i, moving) => {
      const tick = el("span", moving ? "tick moving" : "tick");
      tick.style.left = `${100 * us[i]}%`;
      tick.title = `${number(us[i], 4)}: ${taken[i]}`;
      tick.classList.toggle("newest", i === us.length - 1);
      this.falls.appendChild(tick);
      if (i === us.length - 1) this.tell(i);
    };
    for (let i = 0; i < from; i++) drop(i, false);
    const next = (i) => {
      if (i >= us.length) return;
      drop(i, true);
      this.timer = setTimeout(() => next(i + 1), PACE);
    };
    next(from);
  }

  layout() {
    if (this.data) this.strip();
  }

  tell(i) {
    const { us, taken } = this.data;
    this.last.replaceChildren("u = ", el("span", "num", number(us[i], 4)), " takes ", el("code", "token", taken[i]));
  }

  strip() {
    const taken = this.data.taken[this.data.taken.length - 1];
    const room = this.line.clientWidth || 600;
    const pieces = this.data.strip.map(([i, from, to], m) => {
      const piece = el("div", `piece tint${m % 2}`);
      piece.style.left = `${100 * from}%`;
      piece.style.width = `${100 * (to - from)}%`;
      const name = this.data.names[i];
      piece.title = `${name}: from ${number(from, 4)} to ${number(to, 4)}`;
      if (wordFits(name, (to - from) * room)) piece.appendChild(el("span", "word", name));
      piece.classList.toggle("drawn", name === taken);
      return piece;
    });
    this.line.replaceChildren(...pieces);
  }

  bars() {
    const { names, p, frequencies, spread, counts, restTokens } = this.data;
    const n = names.length;
    let top = 0;
    for (let i = 0; i < n; i++) top = Math.max(top, p[i] + spread[i], frequencies[i]);
    top = top || 1;
    const taken = this.data.taken[this.data.taken.length - 1];
    const rows = [];
    for (let i = 0; i <= n; i++) {
      const scale = i === n ? 1 : top;
      const at = (x) => `${Math.max(0, Math.min(100, (100 * x) / scale))}%`;
      const row = el("div", i === n ? "row rest" : "row", null, { "data-count": counts[i] });
      row.classList.toggle("drawn", names[i] === taken);
      row.appendChild(el("span", "name", i === n ? `${whole(restTokens)} others` : names[i]));
      const track = el("div", "track");
      const bar = el("div", "bar");
      bar.style.width = at(frequencies[i]);
      const whisker = el("div", "whisker");
      whisker.style.left = at(p[i] - spread[i]);
      whisker.style.right = `${100 - Number.parseFloat(at(p[i] + spread[i]))}%`;
      const mark = el("div", "mark");
      mark.style.left = at(p[i]);
      track.append(bar, whisker, mark);
      row.append(
        track,
        el("span", "num times", whole(counts[i])),
        el("span", "num share", percent(frequencies[i], 2)),
        el("span", "num own", percent(p[i], 2)),
      );
      rows.push(row);
    }
    const head = el("div", "row heads");
    head.append(el("span"), el("span"), el("span", "times", "taken"), el("span", "share", "frequency"), el("span", "own", "probability"));
    this.rows.replaceChildren(head, ...rows);
  }

  destroy() {
    clearTimeout(this.timer);
  }
}
