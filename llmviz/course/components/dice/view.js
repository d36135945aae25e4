// The strip from 0 to 1 with the random numbers that fell on it; the hand may point at a place.
// Below, how often each token was taken (bar) beside its probability (mark) and two standard
// deviations to each side (whisker).

import { el, isCalm, live, wordFits } from "../_shared/common.js";
import { makeHand } from "../_shared/guess.js";
import { number, percent, whole } from "../_shared/numbers.js";

const acts = new WeakMap();

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const act = (what) => acts.get(component.parentElement)("act", what);
  return live(component, (root) => new Dice(root, act));
}

const PACE = 34; // milliseconds between two numbers that fall
const FEW = 9; // numbers that are marked with their turn
const STOPS = 500; // of the handle on the strip

class Dice {
  constructor(root, act) {
    this.root = root;
    this.line = el("div", "line");
    this.bed = el("div", "bed");
    this.handle = el("input", "handle", null, { type: "range", min: 0, max: STOPS });
    this.handle.oninput = () => this.point();
    this.handle.onpointerdown = () => this.guess === null && setTimeout(() => this.point());
    this.mine = el("span", "mine");
    this.bed.append(this.line, this.mine, this.handle);
    this.hand = makeHand(() => act({ guess: [this.guess] }));
    this.falls = el("div", "falls");
    this.rows = el("div", "rows");
    const ends = el("div", "ends num");
    ends.append(el("span", null, "0"), el("span", null, "u"), el("span", null, "1"));
    root.append(this.falls, this.bed, ends, this.hand.node, this.rows);
  }

  update(data) {
    const before = this.data?.draws ?? 0;
    const same = this.data && JSON.stringify(this.data.strip) === JSON.stringify(data.strip);
    this.data = data;
    clearTimeout(this.timer);
    this.strip();
    this.bars();
    this.ask();
    const n = data.us.length;
    const fresh = same && data.draws > before ? Math.min(n, data.draws - before) : 0;
    const still = isCalm();
    this.fall(still ? n : n - fresh);
  }

  // The handle stands on the strip while a place is asked for; then the guess lies there.
  ask() {
    const { asks, guess, words } = this.data;
    if (asks !== this.asked) this.guess = null;
    this.asked = asks;
    this.handle.hidden = !asks;
    this.handle.setAttribute("aria-label", words.hint);
    this.hand.show(words, asks, this.guess !== null);
    const own = asks ? this.guess : guess;
    this.mine.hidden = own === null;
    this.mine.style.left = `${100 * own}%`;
    this.mine.title = `${words.own} (${number(own ?? 0, 2)})`;
  }

  point() {
    this.guess = this.handle.value / STOPS;
    this.handle.setAttribute("aria-valuetext", number(this.guess, 2));
    this.ask();
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
      if (us.length <= FEW) {
        const turn = el("span", "turn num", whole(this.data.draws - us.length + i + 1));
        turn.style.left = tick.style.left;
        turn.style.bottom = `${i % 2 ? 34 : 24}px`;
        this.falls.appendChild(turn);
      }
      this.falls.appendChild(tick);
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
    for (let i = 0; i <= n; i++) top = Math.max(top, p[i] + spread[i], frequencies[i]);
    top = top || 1;
    const taken = this.data.taken[this.data.taken.length - 1];
    const rows = [];
    for (let i = 0; i <= n; i++) {
      const at = (x) => `${Math.max(0, Math.min(100, (100 * x) / top))}%`;
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
