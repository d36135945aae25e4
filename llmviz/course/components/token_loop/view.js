// The loop that writes a text: which vectors each round computes, and how its token is chosen.

import { css, el, fit, follow, live, mix, rgb, rgbText } from "../_shared/common.js";
import { chance, number } from "../_shared/numbers.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new TokenLoop(root, send));
}

const STRIP = 26; // how high the row of numbers is drawn
const LEGEND = { false: ["fresh", "again"], true: ["fresh", "kept"] };

class TokenLoop {
  constructor(root, send) {
    this.player = stepPlayer(root, send, () => this.paint(), 1000);
    this.line = el("p", "loop-line", null, { "aria-live": "polite" });
    this.frame = el("div", "loop-frame");
    this.table = el("table", "loop-work");
    this.frame.append(this.table);
    this.foot = el("div", "loop-foot");
    this.work = el("span", "loop-sum");
    this.legend = el("span", "loop-legend");
    this.foot.append(this.work, this.legend);
    this.choice = el("div", "loop-choice");
    this.rowName = el("span", "muted");
    this.strip = el("canvas", "loop-row", null, { role: "img" });
    this.list = el("div", "loop-list");
    this.choice.append(this.rowName, this.strip, this.list);
    root.append(this.line, this.frame, this.foot, this.choice);
    this.root = root;
  }

  update(data, width) {
    this.data = data;
    this.width = width;
    this.build();
    const last = data.rounds.length * data.stages.length - 1;
    const step = Math.max(0, Math.min(follow(this, "step", data.step, this.player.step), last));
    const text = (k) => `${Math.floor(k / data.stages.length) + 1}.${(k % data.stages.length) + 1} / ${data.rounds.length}`;
    this.player.stand(last, step, { label: (k) => this.lineOf(k), text });
    this.paint();
  }

  layout(width) {
    this.width = width;
    this.paint();
  }

  place(step) {
    const stages = this.data.stages.length;
    return [Math.floor(step / stages), step % stages];
  }

  lineOf(step) {
    const [round, stage] = this.place(step);
    return this.data.rounds[round].lines[stage];
  }

  // A column a token, those not written yet included, so that nothing moves when one is.
  build() {
    const { prompt, rounds, layers, words, cached } = this.data;
    const names = [...prompt, ...rounds.map((round) => round.names[0])];
    const head = el("tr");
    head.append(el("th", "corner"));
    this.heads = names.map((name, i) => {
      const cell = el("th", `column${i < prompt.length ? "" : " own"}`, null, { scope: "col", title: name });
      cell.append(el("span", null, name));
      head.append(cell);
      return cell;
    });
    this.cells = [];
    const lines = Array.from({ length: layers }, (_, layer) => {
      const line = el("tr");
      line.append(el("th", "row", words.layer.replace("{layer}", layer), { scope: "row" }));
      this.cells.push(
        names.map(() => {
          const cell = el("td");
          line.append(cell);
          return cell;
        }),
      );
      return line;
    });
    this.table.classList.toggle("flat", layers > 12);
    this.table.replaceChildren(head, ...lines);
    const named = LEGEND[cached].map((kind) => {
      const pair = el("span", "loop-pair");
      pair.append(el("span", `loop-key ${kind}`), el("span", null, words[kind]));
      return pair;
    });
    this.legend.replaceChildren(...named);
    this.rowName.textContent = words.row;
    this.strip.setAttribute("aria-label", words.row);
  }

  // What a round does with the vectors of a token: "fresh", "again", "kept", or nothing yet.
  kind(round, column) {
    const length = this.data.prompt.length + round;
    if (column >= length) return "";
    if (round === 0 || column === length - 1) return "fresh";
    return this.data.cached ? "kept" : "again";
  }

  paint() {
    if (!this.data || this.player.step < 0) return;
    const [round, stage] = this.place(this.player.step);
    const { prompt, rounds, words } = this.data;
    const now = rounds[round];
    this.line.textContent = now.lines[stage];
    const written = prompt.length + round + (stage === 4 ? 1 : 0);
    this.heads.forEach((head, i) => {
      head.classList.toggle("there", i < written);
      head.classList.toggle("now", stage === 4 ? i === written - 1 : i === prompt.length + round - 1);
    });
    for (const line of this.cells) line.forEach((cell, i) => (cell.className = this.kind(round, i)));
    this.work.textContent = now.work;
    this.drawRow(round);
    const shown = (at) => (stage >= at ? "there" : "");
    const head = [words.token, words.score, words.probability].map((text) => el("span", "muted", text));
    head.push(el("span"));
    const lines = now.names.flatMap((name, i) => {
      const picked = i === 0 && stage >= 3 ? " picked" : "";
      const track = el("span", `loop-track ${shown(2)}${picked}`);
      const level = el("span", "loop-level");
      level.style.width = `${100 * now.probabilities[i]}%`;
      track.append(level);
      return [
        el("code", `${shown(1)}${picked}`, name),
        el("span", `num ${shown(1)}${picked}`, number(now.scores[i], 2)),
        el("span", `num ${shown(2)}${picked}`, chance(now.probabilities[i])),
        track,
      ];
    });
    const rest = Math.max(0, 1 - now.probabilities.reduce((sum, p) => sum + p, 0));
    lines.push(el("span", `muted ${shown(1)}`, words.others), el("span"), el("span", `num muted ${shown(2)}`, chance(rest)), el("span"));
    this.list.replaceChildren(...head, ...lines);
    this.reveal(written - 1);
  }

  drawRow(round) {
    const { rows } = this.data;
    const count = rows.shape[1];
    const values = rows.subarray(round * count, (round + 1) * count);
    const wide = Math.max(1, Math.min(this.width, 18 * count));
    const pen = fit(this.strip, wide, STRIP);
    const limit = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    const paper = rgb(css(this.root, "--st-background-color") || css(this.root, "--lv-surface"));
    const poles = ["--lv-residual-neg", "--lv-residual-pos"].map((name) => rgb(css(this.root, name)));
    values.forEach((value, i) => {
      pen.fillStyle = rgbText(mix(paper, poles[value < 0 ? 0 : 1], Math.abs(value) / limit));
      const from = Math.round((i * wide) / count);
      pen.fillRect(from, 0, Math.round(((i + 1) * wide) / count) - from, STRIP);
    });
  }

  // On a narrow screen the newest token may lie outside what is seen.
  reveal(column) {
    const cell = this.heads[column];
    const past = cell.offsetLeft + cell.offsetWidth + 8 - this.frame.clientWidth;
    this.frame.scrollLeft = Math.max(0, past);
  }

  destroy() {
    this.player.stop();
  }
}
