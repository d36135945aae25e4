// Texts that fill up side by side: what came last is coloured, and a sentence says how far each is.

import { el, follow, live } from "../_shared/common.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new FillFilm(root, send));
}

const PACE = 700; // milliseconds a step

class FillFilm {
  constructor(root, send) {
    this.player = stepPlayer(root, send, () => this.draw(), PACE);
    this.step = 0;
    this.pair = el("div", "fill-pair");
    root.append(this.pair);
  }

  update(data) {
    this.data = data;
    this.boxes = data.texts.map((text) => box(text, data.hidden));
    this.pair.replaceChildren(...this.boxes.map(({ node }) => node));
    const last = data.texts[0].said.length - 1;
    this.player.stand(last, Math.min(follow(this, "step", data.step, this.player.step), last));
    this.draw();
  }

  draw() {
    const { step } = this.player;
    this.boxes?.forEach(({ chips, told }, at) => {
      const { when, said } = this.data.texts[at];
      told.textContent = said[step];
      chips.forEach((chip, place) => {
        chip.classList.toggle("filled", when[place] <= step);
        chip.classList.toggle("new", when[place] === step);
      });
    });
  }

  destroy() {
    this.player.stop();
  }
}

function box(text, hidden) {
  const node = el("section", "fill-box");
  const row = el("div", "fill-row");
  const chips = text.pieces.map((piece, place) => {
    const chip = el("span", text.open ? "fill-chip open" : "fill-chip", null, { title: text.notes[place], "data-hidden": hidden });
    chip.append(el("span", "fill-word", piece));
    return chip;
  });
  row.append(...chips);
  const told = el("p", "fill-told", null, { role: "status", "aria-live": "polite" });
  node.append(el("div", "fill-name", text.name), row, told);
  return { node, chips, told };
}
