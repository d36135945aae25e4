// The pipeline as columns of bars over the same tokens. Every number comes from Python, computed
// beforehand for each stop of each slider: the hand only chooses which row of the arrays is shown.

import { eachFrame, el, live, Told, wordFits } from "../_shared/common.js";
import { makeHand } from "../_shared/guess.js";
import { chance, number, whole } from "../_shared/numbers.js";
import { moveThumb } from "../_shared/slider.js";
import { showWhole } from "../_shared/whole_columns.js";

const acts = new WeakMap();

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const act = (what) => acts.get(component.parentElement)("act", what);
  return live(component, (root) => new Sampler(root, act));
}

const NICE = [0.02, 0.03, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1];

class Sampler {
  constructor(root, act) {
    this.root = root;
    this.act = act;
    this.held = null; // the control that the hand moved last
    this.told = new Told(); // its stops
    this.scroll = el("div", "scroll");
    this.grid = el("div", "grid");
    this.scroll.appendChild(this.grid);
    this.refusal = el("p", "refusal", null, { role: "alert" });
    this.foot = el("p", "foot num", null, { "aria-live": "polite" });
    this.strip = el("div", "strip");
    this.hand = makeHand(() => this.act({ guess: [this.guess] }));
    root.append(this.refusal, this.hand.node, this.scroll, this.foot, this.strip);
    this.show = eachFrame(() => this.paint());
  }

  update(data, width) {
    const shape = JSON.stringify([data.columns, data.controls.map((c) => c.texts), [...data.ids], data.names, data.marks, data.banned]);
    const kept = this.held && data.controls.find((c) => c.name === this.held.name);
    const before = kept && this.control(kept.name);
    const same = before?.texts.join() === kept?.texts.join(); // else a place means another stop
    if (!same) this.told = new Told();
    const moved = kept && (!same || this.told.moved(kept.at, before.at));
    this.data = data;
    if (!data.cut?.asks) this.guess = null;
    this.hand.show(data.cut?.words ?? {}, Boolean(data.cut?.asks), Boolean(this.guess));
    this.held = kept && (this.held.down || !moved) ? { ...this.held, at: Math.min(this.held.at, kept.texts.length - 1) } : null;
    if (shape !== this.shape) {
      this.shape = shape;
      this.build();
    }
    this.layout(width);
  }

  layout(width) {
    const columns = this.data.columns.length;
    const label = width < 560 ? 84 : 112;
    const each = Math.max(width < 560 ? 132 : 112, Math.floor((width - label) / columns));
    this.grid.style.gridTemplateColumns = `${label}px repeat(${columns}, ${each}px)`;
    this.paint();
    showWhole(this.scroll, [...this.grid.querySelectorAll(".head")], 0);
  }

  control(name) {
    return this.data.controls.find((control) => control.name === name);
  }

  // The arrays that are shown now, and which stop of them.
  now() {
    const control = this.held ? this.control(this.held.name) : this.data.controls[0];
    return [control, this.held ? this.held.at : control.at];
  }

  build() {
    const { columns, ids } = this.data;
    this.sliders = {};
    this.effects = [];
    this.cells = [];
    this.tails = [];
    const parts = [el("div", "corner")];
    columns.forEach((column, c) => parts.push(this.head(column, c)));
    for (let i = 0; i < ids.length; i++) {
      parts.push(this.label(ids[i]));
      this.cells.push(
        columns.map((_, c) => {
          const cell = this.cell();
          cell.box.dataset.at = `${i},${c}`;
          if (c === 0) this.takesCut(cell.box, i);
          parts.push(cell.box);
          return cell;
        }),
      );
    }
    this.rest = el("div", "label rest");
    parts.push(this.rest);
    this.tails = columns.map(() => {
      const cell = this.cell("tail");
      parts.push(cell.box);
      return cell;
    });
    const { activeElement } = this.root.getRootNode();
    const at = this.root.contains(activeElement) && activeElement.getAttribute("aria-label");
    this.grid.replaceChildren(...parts);
    if (at) this.grid.querySelector(`[aria-label="${CSS.escape(at)}"]`)?.focus({ preventScroll: true });
  }

  head(column, c) {
    const box = el("div", "head", null, { "data-column": column.name });
    const line = el("div", "title");
    if (column.movable && c > 1) line.appendChild(this.mover(column, -1));
    line.appendChild(el("span", "name", column.title, { title: column.hint }));
    if (column.movable && c > 0 && c < this.data.columns.length - 1) line.appendChild(this.mover(column, 1));
    box.appendChild(line);
    const control = this.data.controls.find((one) => one.name === column.name);
    if (control) box.appendChild(this.slider(control, column));
    else box.appendChild(el("div", "hint", column.hint));
    const effect = el("div", "effect num");
    this.effects.push(effect);
    box.appendChild(effect);
    return box;
  }

  mover(column, by) {
    const text = by < 0 ? `move ${column.title} one place to the left` : `move ${column.title} one place to the right`;
    const button = el("button", "mover", by < 0 ? "‹" : "›", { type: "button", title: text, "aria-label": text });
    button.onclick = () => this.act({ move: column.name, by });
    return button;
  }

  slider(control, column) {
    const line = el("div", "slide");
    const range = el("input", "scrub", null, {
      type: "range",
      min: 0,
      max: control.texts.length - 1,
      step: 1,
      "aria-label": column.title,
    });
    const value = el("output", "value num");
    range.oninput = () => {
      this.held = { name: control.name, at: Number(range.value), down: true };
      this.show();
    };
    // Arrow keys and a drag both end in a change event.
    range.onchange = () => {
      const now = this.control(control.name);
      const at = Number(range.value);
      if (this.name !== control.name) this.told = new Told();
      this.name = control.name;
      this.held = { name: control.name, at, down: false };
      if (at === this.told.last(now.at)) return;
      this.told.say(at);
      this.act({ set: control.name, value: now.values[at] });
    };
    line.append(range, value);
    this.sliders[control.name] = { range, value };
    return line;
  }

  label(id) {
    const { names, marks, banned, canBan } = this.data;
    const node = el(canBan ? "button" : "div", "label", null, canBan ? { type: "button" } : {});
    node.dataset.id = id;
    const off = banned.includes(id);
    node.classList.toggle("off", off);
    node.appendChild(el("span", "word", names[id]));
    if (marks[id]) node.appendChild(el("span", "mark", marks[id]));
    if (canBan) {
      node.title = off ? `allow ${names[id]} again (id ${id})` : `forbid ${names[id]} (id ${id})`;
      node.onclick = () => this.act({ ban: id });
    }
    return node;
  }

  // A click on a row of the first column cuts below it, where a cut is asked for.
  takesCut(box, i) {
    const set = () => {
      if (!this.data.cut?.asks) return;
      this.guess = i + 1;
      this.hand.ready(true);
      this.paintCut();
    };
    box.onclick = set;
    box.onkeydown = (event) => event.key === "Enter" && set();
  }

  paintCut() {
    const { cut } = this.data;
    const lines = this.guess ? [[this.guess, ""]] : (cut?.lines ?? []);
    this.root.classList.toggle("asks", Boolean(cut?.asks));
    this.cells.forEach(([{ box }], i) => {
      const here = lines.filter(([above]) => above === i + 1);
      box.classList.toggle("cut", here.length > 0);
      box.dataset.cut = here.map(([, name]) => name).join(" · ");
      if (cut?.asks) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
      box.classList.toggle("below", Boolean(cut?.asks && this.guess && i >= this.guess));
    });
  }

  cell(kind) {
    const box = el("div", kind ? `cell ${kind}` : "cell");
    const track = el("div", "track");
    const ghost = el("div", "ghost");
    const gain = el("div", "gain");
    const bar = el("div", "bar");
    track.append(ghost, gain, bar);
    const text = el("span", "share num");
    box.append(track, text);
    return { box, ghost, gain, bar, text };
  }

  paint() {
    const [control, at] = this.now();
    const { columns, ids, vocab } = this.data;
    const C = columns.length;
    const N = ids.length;
    const refused = control.refused[at];
    this.refusal.textContent = refused ? `Refused here: ${refused}.` : "";
    this.root.classList.toggle("refused", Boolean(refused));
    for (const one of this.data.controls) {
      const slider = this.sliders[one.name];
      if (!slider) continue;
      const stop = this.held?.name === one.name ? this.held.at : one.at;
      moveThumb(slider.range, stop, one.texts.length - 1);
      slider.range.setAttribute("aria-valuetext", one.texts[stop]);
      slider.value.textContent = one.texts[stop];
    }
    const p = (c, i) => control.probabilities[(at * C + c) * N + i];
    const kept = (c, i) => control.kept[(at * C + c) * N + i];
    let highest = 0;
    for (let c = 0; c < C; c++) {
      for (let i = 0; i < N; i++) highest = Math.max(highest, p(c, i));
    }
    const top = NICE.find((one) => one >= highest) ?? 1;
    const drawn = control.drawn[at];
    for (let c = 0; c < C; c++) {
      const k = at * C + c;
      const active = c === 0 || control.active[k];
      const left = 1 - control.mass_cut[k];
      for (let i = 0; i < N; i++) {
        const cell = this.cells[i][c];
        const before = c ? p(c - 1, i) : 0;
        this.fill(cell, p(c, i), before, active && c > 0, kept(c, i), left, top);
        const here = ids[i] === drawn && !refused;
        cell.box.classList.toggle("drawn", here && c === C - 1);
      }
      const tail = this.tails[c];
      const tokens = control.hidden_tokens[k];
      const before = c ? control.hidden_mass[k - 1] : 0;
      this.fill(tail, control.hidden_mass[k], before, active && c > 0, tokens > 0, left, Math.max(top, 1));
      tail.text.textContent = tokens ? `${chance(control.hidden_mass[k])}` : "0";
      tail.box.title = `${whole(tokens)} tokens without a bar: ${chance(control.hidden_mass[k])}`;
      tail.box.classList.toggle("drawn", c === C - 1 && !refused && ![...ids].includes(drawn));
      tail.box.dataset.tokens = tokens;
      for (const row of [...this.cells.map((cells) => cells[c]), tail]) row.box.classList.toggle("idle", !active);
      this.effects[c].textContent = this.effect(control, k, c, active);
    }
    this.rest.textContent = `${whole(vocab - N)} others`;
    for (const node of this.grid.querySelectorAll(".label[data-id]")) {
      node.classList.toggle("drawn", !refused && Number(node.dataset.id) === drawn);
    }
    const last = at * C + C - 1;
    const hidden = control.hidden_mass[last];
    this.foot.textContent = refused
      ? ""
      : `tokens drawn from: ${[...Array(N).keys()].filter((i) => kept(C - 1, i)).length} with a bar (${chance(1 - hidden)}) and ` +
        `${whole(control.hidden_tokens[last])} without one (${chance(hidden)}) · ` +
        `entropy ${number(control.entropy[at], 2)} nats · a full bar is ${chance(top)}, in the last line 100 %`;
    this.paintStrip(control, at, refused);
    this.paintCut();
  }

  fill(cell, share, before, active, kept, left, top) {
    const wide = (x) => `${Math.min(100, (100 * x) / top)}%`;
    // A cut keeps `before` and adds what renormalising gives; other steps replace it.
    const gained = active && kept && left < 1 ? share - share * left : 0;
    cell.bar.style.width = wide(kept ? share - gained : 0);
    cell.gain.style.width = wide(kept ? share : 0);
    cell.ghost.style.width = wide(active ? before : 0);
    cell.box.classList.toggle("gone", !kept);
    cell.box.classList.toggle("removed", !kept && active && before > 0);
    cell.text.textContent = kept ? chance(share) : active && before > 0 ? "cut" : "";
  }

  effect(control, k, c, active) {
    if (c === 0) return "";
    if (!active) return "changes nothing";
    const cut = control.tokens_cut[k];
    if (!cut) return this.changes(control, k) ? "changes the shares" : "changes nothing";
    return `cuts ${whole(cut)}, ${chance(control.mass_cut[k])}; rest × ${number(1 / (1 - control.mass_cut[k]), 2)}`;
  }

  // Whether the step of column k changes a probability.
  changes(control, k) {
    const N = this.data.ids.length;
    const { probabilities: p, hidden_mass: rest } = control;
    for (let i = 0; i < N; i++) if (p[k * N + i] !== p[(k - 1) * N + i]) return true;
    return rest[k] !== rest[k - 1];
  }

  paintStrip(control, at, refused) {
    const { names, u } = this.data;
    const M = control.segments.shape[1];
    const parts = [];
    const line = el("div", "line");
    const room = this.strip.clientWidth || 600;
    if (!refused) {
      for (let m = 0; m < M; m++) {
        const from = control.starts[at * M + m];
        const to = control.ends[at * M + m];
        if (to <= from) continue;
        const id = control.segments[at * M + m];
        const piece = el("div", `piece tint${m % 2}`);
        piece.style.left = `${100 * from}%`;
        piece.style.width = `${100 * (to - from)}%`;
        piece.title = `${names[id]}: from ${number(from, 4)} to ${number(to, 4)}`;
        if (wordFits(names[id], (to - from) * room)) piece.appendChild(el("span", "word", names[id]));
        if (id === control.drawn[at]) piece.classList.add("drawn");
        line.appendChild(piece);
      }
      const [from, to] = [control.drawn_from[2 * at], control.drawn_from[2 * at + 1]];
      const here = el("div", "here");
      here.style.left = `${100 * from}%`;
      here.style.width = `${100 * (to - from)}%`;
      const needle = el("div", "needle");
      needle.style.left = `${100 * u}%`;
      line.append(here, needle);
      const sentence = el("p", "said");
      sentence.append(
        "u = ",
        el("span", "num", number(u, 4)),
        " falls on ",
        el("code", "token", names[control.drawn[at]]),
        ", which lies from ",
        el("span", "num", number(from, 4)),
        " to ",
        el("span", "num", number(to, 4)),
        ` (${chance(to - from)}).`,
      );
      parts.push(sentence);
    }
    const ends = el("div", "ends num");
    ends.append(el("span", null, "0"), el("span", null, "cumulative probability"), el("span", null, "1"));
    parts.push(line, ends);
    this.strip.replaceChildren(...parts);
  }
}
