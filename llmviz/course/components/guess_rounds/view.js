// Speculative decoding: the guesses of each round, which of them are accepted, and for the token
// under the pointer both distributions of its place, with what becomes of them.

import { el, follow, live } from "../_shared/common.js";
import { chance } from "../_shared/numbers.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new GuessRounds(root, send));
}

const [GUESS, CHECK, DRAW] = [0, 1, 2];
const SIGN = { yes: "✓", no: "✗", "": "" };

class GuessRounds {
  constructor(root, send) {
    this.player = stepPlayer(root, send, () => this.paint(), 900);
    this.line = el("p", "guess-line", null, { "aria-live": "polite" });
    this.board = el("div", "guess-board");
    this.told = el("p", "guess-told");
    this.legend = el("div", "guess-legend");
    this.table = el("div", "guess-table");
    root.append(this.line, this.board, this.told, this.legend, this.table);
    root.addEventListener("keydown", (event) => {
      if (event.target.classList.contains("guess-chip") && event.key !== " " && event.key !== "Enter") this.player.key(event);
    });
  }

  update(data) {
    this.data = data;
    this.build();
    const last = data.steps.length - 1;
    const step = Math.max(0, Math.min(follow(this, "step", data.step, this.player.step), last));
    const text = (k) => `${k + 1} / ${last + 1}`;
    this.player.stand(last, step, { label: (k) => this.data.steps[k][3], text });
    this.paint();
  }

  // All rounds stand there from the beginning, so that nothing moves while they are played.
  build() {
    const { prompt, rounds, words } = this.data;
    const given = el("div", "guess-row");
    given.append(el("span", "guess-name muted", words.prompt), ...this.cells(prompt.map((name) => el("span", "guess-chip given", name))));
    this.rows = rounds.map((round, number) => {
      const row = el("div", "guess-row");
      const chips = round.guesses.map(([name, verdict], i) => this.chip(name, verdict, verdict ? round.places[i] : null));
      const drawn = this.chip(round.drawn, "drawn", round.places[round.places.length - 1]);
      // What stands behind the end of the text does not belong to it.
      const accepted = [...chips.filter((_, i) => round.guesses[i][1] === "yes"), drawn];
      for (const chip of round.ended ? accepted.slice(-round.ended) : []) chip.classList.add("beyond");
      const label = el("span", "guess-name muted", words.round.replace("{round}", number + 1));
      row.append(label, ...this.cells([...chips, drawn]));
      return { row, label, chips, drawn };
    });
    this.board.replaceChildren(given, ...this.rows.map((one) => one.row));
    // Where nothing was guessed, all of p is drawn: the second entry has other words there.
    this.keys = ["kept", "added", "mark"].map((name) => {
      const pair = el("span", "guess-pair");
      pair.append(el("span", `guess-key ${name}`), el("span", null, words[name]));
      return pair;
    });
    this.legend.replaceChildren(...this.keys);
  }

  cells(nodes) {
    const cell = el("span", "guess-chips");
    cell.append(...nodes);
    return [cell];
  }

  chip(name, verdict, place) {
    const chip = el("button", "guess-chip", null, { type: "button", "data-verdict": verdict });
    chip.append(el("code", null, name));
    if (SIGN[verdict]) chip.append(el("span", "guess-sign", SIGN[verdict], { "aria-hidden": "true" }));
    if (!place) {
      chip.disabled = true;
      chip.title = this.data.words.unchecked;
      return chip;
    }
    const point = (on) => () => {
      this.pointed = on ? { place, chip } : null;
      this.open();
    };
    chip.addEventListener("pointerenter", point(true));
    chip.addEventListener("pointerleave", point(false));
    chip.addEventListener("focus", point(true));
    chip.addEventListener("blur", point(false));
    chip.onclick = point(true);
    return chip;
  }

  paint() {
    if (!this.data || this.player.step < 0) return;
    const [round, kind, index, line] = this.data.steps[this.player.step];
    this.line.textContent = line;
    this.rows.forEach(({ label, chips, drawn }, number) => {
      const before = number < round;
      const here = number === round;
      label.classList.toggle("there", before || here);
      chips.forEach((chip, i) => {
        const decided = before || (here && (kind === DRAW || (kind === CHECK && i <= index)));
        chip.classList.toggle("there", before || here);
        chip.classList.toggle("decided", decided);
        chip.classList.toggle("now", here && kind === CHECK && i === index);
      });
      drawn.classList.toggle("there", before || (here && kind === DRAW));
      drawn.classList.toggle("decided", before || (here && kind === DRAW));
      drawn.classList.toggle("now", here && kind === DRAW);
    });
    // The place that this step is about; while guesses are made, the first that will be checked.
    const { chips, drawn } = this.rows[round];
    const places = this.data.rounds[round].places;
    if (kind === DRAW) this.step = { place: places[places.length - 1], chip: drawn };
    else this.step = { place: places[index], chip: chips[index] };
    this.hidden = kind === GUESS;
    this.open();
  }

  open() {
    const shown = this.pointed ?? (this.hidden ? null : this.step);
    for (const { chips, drawn } of this.rows) for (const chip of [...chips, drawn]) chip.classList.toggle("open", chip === shown?.chip);
    const before = this.drawnPlace;
    this.drawnPlace = shown?.place ?? null;
    this.legend.hidden = this.table.hidden = this.told.hidden = !shown;
    if (!shown) return;
    const { names, p, q, kept, added, line: decided, told } = shown.place;
    // The step's own sentence stands above already.
    this.told.textContent = this.pointed ? `${decided} ${told}` : told;
    if (before === shown.place) return;
    const { words } = this.data;
    const free = q.every((x) => x === 0);
    const [accepted, other, mark] = this.keys;
    accepted.hidden = mark.hidden = free;
    other.lastChild.textContent = free ? words.free : words.added;
    let most = 0;
    for (let i = 0; i < p.length; i++) most = Math.max(most, p[i], q[i]);
    const at = (x) => `${(100 * x) / (most || 1)}%`;
    const line = (name, row, kind = "") => {
      const node = el("div", `guess-line-of ${kind}`);
      const track = el("span", "guess-track");
      if (kind !== "heads" && kind !== "sum") {
        const bar = (className, from, size) => {
          const part = el("span", className);
          part.style.left = at(from);
          part.style.width = at(size);
          return part;
        };
        track.append(bar("guess-bar kept", 0, row[2]), bar("guess-bar added", row[2], row[3]));
        if (!free) {
          const mark = el("span", "guess-mark");
          mark.style.left = at(row[0]);
          track.append(mark);
        }
      }
      const figures = row.map((value, i) =>
        el("span", `num ${["q", "p", "kept", "added"][i]}`, typeof value === "string" ? value : chance(value)),
      );
      node.append(el(kind === "" ? "code" : "span", "guess-of", name), track, ...figures);
      return node;
    };
    const sums = [q, p, kept, added].map((row) => row.reduce((sum, x) => sum + x, 0));
    this.table.replaceChildren(
      line(words.token, [words.q, words.p, "min(p, q)", "p − min"], "heads"),
      ...names.map((name, i) => line(name, [q[i], p[i], kept[i], added[i]])),
      line(
        words.others,
        [q, p, kept, added].map((row) => row[row.length - 1]),
        "rest",
      ),
      line(words.sum, sums, "sum"),
    );
  }

  destroy() {
    this.player.stop();
  }
}
