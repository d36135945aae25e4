// A run of a serving engine, tick by tick: the batch, the queue, the blocks of each request, each text.

import { el, follow, live, styles } from "../_shared/common.js";
import { fixed, whole } from "../_shared/numbers.js";
import { stepPlayer } from "../_shared/player.js";
import { BlockGrid } from "./blocks.js";
import { Lanes } from "./lanes.js";
import { allStates, coloursOf, latest, ownersOf, slotsUsed, textAt } from "./run.js";

export default function (component) {
  return live(component, (root, send) => new ServingFilm(root, send));
}

const PACE = 400; // ms a tick
const SPEEDS = [1, 4, 16];

class ServingFilm {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.player = stepPlayer(root, send, () => this.paint(), PACE);
    this.facts = el("dl", "film-facts", null, { "aria-live": "polite" });
    const sides = el("div", "film-sides");
    this.batch = part(sides, "film-batch");
    this.memory = part(sides, "film-memory");
    this.rows = el("div", "film-rows");
    this.queue = el("div", "film-queue");
    this.batch.box.append(this.rows, this.queue);
    this.grid = new BlockGrid((sequence) => this.choose(sequence));
    this.memory.box.append(this.grid.node);
    this.times = part(root, "film-times");
    this.lanes = new Lanes(root, {
      choose: (sequence) => this.choose(sequence),
      go: (tick) => this.player.move(tick),
    });
    this.times.box.append(this.lanes.node);
    this.own = part(root, "film-own");
    this.table = el("div", "film-table");
    this.text = el("p", "film-text");
    this.own.box.append(this.table, this.text);
    this.near = el("details", "film-near");
    this.summary = el("summary", "film-title");
    this.near.append(this.summary, this.facts, sides);
    this.times.box.append(this.times.note);
    root.append(this.times.box, this.own.box, this.near);
    root.addEventListener("click", (event) => {
      const button = event.target.closest?.("button[data-sequence]");
      if (button) this.choose(Number(button.dataset.sequence));
    });
    this.chosen = 0;
  }

  update(data, width) {
    const { words, ticks, sequences } = data;
    if (!this.data) this.near.open = data.near;
    this.data = data;
    this.summary.textContent = words.near;
    this.width = width;
    this.states = allStates(data);
    this.colours = coloursOf(data);
    this.chosen = Math.min(follow(this, "chosen", data.chosen, this.chosen) ?? 0, sequences.length - 1);
    const last = ticks.length - 1;
    const step = Math.max(0, Math.min(follow(this, "step", data.step, this.player.step) ?? 0, last));
    this.player.bar.setAttribute("aria-label", words.player);
    for (const [name, one] of Object.entries({ batch: this.batch, memory: this.memory, times: this.times, own: this.own }))
      one.title.textContent = words[name];
    this.times.note.textContent = words.timesNote;
    this.memory.note.textContent = words.memoryNote;
    this.grid.configure(data);
    this.lanes.configure(data, this.states, this.colours, width);
    this.player.configure(last, step, { speeds: SPEEDS, usual: 1 });
    this.paint();
  }

  layout(width) {
    this.width = width;
    this.lanes.layout(width);
    this.paint();
  }

  choose(sequence) {
    if (sequence === null || sequence === this.chosen) return;
    this.chosen = sequence;
    this.paint();
    this.send("chosen", sequence);
  }

  paint() {
    if (!this.data || this.player.step < 0) return;
    const at = this.player.step;
    const style = styles(this.root);
    this.colour = (sequence) => style(`--lv-kind-${this.colours[sequence]}`);
    this.paintFacts(at);
    this.paintBatch(at);
    this.owners = ownersOf(this.data, at);
    this.grid.paint(this.owners, new Set(latest(this.data.kept, at) ?? []), this.chosen, this.colour);
    this.lanes.paint(at, this.chosen);
    this.paintOwn(at);
  }

  paintFacts(at) {
    const { ticks, words, blocks } = this.data;
    const tick = ticks[at];
    const tokens = (phase) => tick.rows.reduce((sum, [, kind, count]) => sum + (kind === phase ? count : 0), 0);
    const pairs = [
      [words.since, `${fixed(tick.end, 3)} s`],
      [words.took, `${fixed(1000 * (tick.end - tick.begin), 1)} ms`],
      [words.prefill, whole(tokens(0))],
      [words.decode, whole(tokens(1))],
      [words.padding, whole(tick.padding)],
      [words.waiting, whole(tick.waiting.length)],
      [words.free, `${whole(tick.free)} / ${whole(blocks)}`],
      [words.waste, whole(tick.waste)],
    ];
    this.facts.replaceChildren(
      ...pairs.map(([name, value]) => {
        const pair = el("div", "film-fact");
        pair.append(el("dt", null, name), el("dd", "num", value));
        return pair;
      }),
    );
  }

  paintBatch(at) {
    const { ticks, sequences, words } = this.data;
    const tick = ticks[at];
    const rows = tick.rows.map(([sequence, phase, count]) => {
      const one = sequences[sequence];
      const row = this.button(sequence, "film-row");
      const done = latest(one.lengths, at) ?? 0;
      const bar = el("span", "film-bar");
      const read = el("span", "film-read");
      const wrote = el("span", "film-wrote");
      const total = Math.max(1, one.promptTokens + one.wanted);
      read.style.width = `${(100 * Math.min(done, one.promptTokens)) / total}%`;
      wrote.style.width = `${(100 * Math.max(0, done - one.promptTokens)) / total}%`;
      for (const filled of [read, wrote]) filled.style.background = this.colour(sequence);
      bar.append(read, wrote);
      const named = [words.prefills, words.decodes, words.pads][phase];
      row.append(el("span", `film-phase ${["prefill", "decode", "padding"][phase]}`, `${named} ${whole(count)}`), bar);
      return row;
    });
    if (!rows.length) rows.push(el("p", "muted", words.nobody));
    this.rows.replaceChildren(...rows);
    const lists = [
      [words.queue, tick.waiting],
      [words.pushedOut, tick.preempted],
      [words.swappedOut, tick.swapped],
      [words.finished, tick.finished],
    ];
    this.queue.replaceChildren(
      ...lists.flatMap(([name, members], number) => {
        if (number && !members.length) return [];
        const line = el("div", "film-list");
        line.append(el("span", "muted", name), ...members.map((sequence) => this.button(sequence, "film-chip")));
        if (!members.length) line.append(el("span", "muted", words.none));
        return [line];
      }),
    );
  }

  button(sequence, kind) {
    const button = el("button", kind, null, { type: "button", "data-sequence": sequence, "aria-pressed": sequence === this.chosen });
    const swatch = el("span", "film-swatch");
    swatch.style.background = this.colour(sequence);
    button.append(swatch, el("span", "film-name", this.data.sequences[sequence].name));
    return button;
  }

  paintOwn(at) {
    const { sequences, states, words, blockSize } = this.data;
    const one = sequences[this.chosen];
    this.own.title.textContent = `${one.name}: ${states[this.states.at(this.chosen, at)]}`;
    const table = latest(one.tables, at) ?? [];
    const length = latest(one.lengths, at) ?? 0;
    const cells = table.map((block, place) => {
      const cell = el("span", "film-entry");
      const used = slotsUsed(length, place, blockSize);
      cell.append(el("span", "num", `${place} → ${block}`), el("span", "muted num", `${used}/${blockSize}`));
      const holders = this.owners[block].length;
      if (holders > 1) cell.append(el("span", "film-times-shared num", `×${holders}`));
      cell.style.borderColor = this.colour(this.chosen);
      return cell;
    });
    this.table.replaceChildren(el("span", "muted", cells.length ? words.tableNote : words.noTable), ...cells);
    this.text.replaceChildren(el("span", "muted", one.prompt), el("span", "film-written", textAt(one, at)));
  }

  destroy() {
    this.player.stop();
  }
}

function part(parent, name) {
  const box = el("section", name);
  const title = el("h4", "film-title");
  const note = el("p", "film-note muted");
  box.append(title, note);
  parent.append(box);
  return { box, title, note };
}
