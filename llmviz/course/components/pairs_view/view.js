// The pairs of skip-gram on the text: a center, arcs to the neighbours in its reach, and the random
// words that all centers are compared with.

import { el, follow, live, svg, zoomOf } from "../_shared/common.js";
import { whole } from "../_shared/numbers.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new PairsView(root, send));
}

class PairsView {
  constructor(root, send) {
    this.root = root;
    this.player = stepPlayer(root, send, (step) => this.draw(step), 1100);
    this.text = el("div", "text");
    this.flow = el("div", "flow");
    this.arcs = svg("svg", { class: "arcs", "aria-hidden": "true" });
    this.text.append(this.arcs, this.flow);
    this.news = el("p", "news", null, { "aria-live": "polite" });
    this.list = el("div", "pairs");
    this.random = el("p", "random");
    root.append(this.text, this.news, this.list, this.random);
  }

  update(data) {
    this.data = data;
    this.chips = data.texts.map((text, i) => {
      const chip = el("span", data.kept[i] ? "word" : "word struck", text === "\n" ? "⏎" : text);
      if (!data.kept[i]) chip.title = data.words.struck;
      return chip;
    });
    this.order = new Map([...data.centers].map((place, k) => [place, k]));
    this.order.forEach((k, place) => {
      this.chips[place].classList.add("can");
      this.chips[place].onclick = () => this.player.move(k);
    });
    this.flow.replaceChildren(...this.chips);
    this.of = [...data.centers].map(() => []);
    for (let p = 0; p < data.pairs.shape[0]; p++) {
      this.of[this.order.get(data.pairs[2 * p])].push(data.pairs[2 * p + 1]);
    }
    this.random.replaceChildren(el("span", "muted", `${data.words.random} `), ...data.negatives.map((text) => el("span", "noise", text)));
    const last = data.centers.length - 1;
    const step = Math.min(follow(this, "step", data.step, this.player.step), last);
    this.player.configure(last, step, {
      speeds: [1, 2, 4],
      label: (k) => data.texts[data.centers[k]],
      text: (k) => `${k + 1} / ${last + 1}`,
    });
  }

  layout() {
    this.draw(this.player.step);
  }

  draw(k) {
    const { data, chips } = this;
    const center = data.centers[k];
    const near = this.of[k];
    const beside = new Set(near);
    chips.forEach((chip, i) => {
      chip.classList.toggle("center", i === center);
      chip.classList.toggle("near", beside.has(i));
    });
    this.drawArcs(
      chips[center],
      near.map((i) => chips[i]),
    );
    const total = this.of.slice(0, k + 1).reduce((sum, one) => sum + one.length, 0);
    this.news.textContent = data.words.news.replace("{n}", whole(near.length)).replace("{total}", whole(total));
    this.list.replaceChildren(
      ...near.map((i) => {
        const pair = el("span", "pair");
        pair.append(el("b", "from", data.texts[center]), " → ", el("b", "to", data.texts[i]));
        return pair;
      }),
    );
  }

  drawArcs(from, to) {
    const box = this.text.getBoundingClientRect();
    const zoom = zoomOf(this.text);
    const middle = (chip) => {
      const at = chip.getBoundingClientRect();
      return [(at.left + at.width / 2 - box.left) / zoom, (at.top - box.top) / zoom];
    };
    const [x0, y0] = middle(from);
    this.arcs.setAttribute("width", box.width / zoom);
    this.arcs.setAttribute("height", box.height / zoom);
    this.arcs.replaceChildren(
      ...to.map((chip) => {
        const [x1, y1] = middle(chip);
        const high = Math.min(y0, y1) - Math.min(16, 5 + Math.abs(x1 - x0) / 14);
        return svg("path", { d: `M${x0},${y0} C${x0},${high} ${x1},${high} ${x1},${y1}`, class: "arc" });
      }),
    );
  }

  destroy() {
    this.player.stop();
  }
}
