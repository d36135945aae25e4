// An encoder reads, a decoder writes a word a step: chips are coloured by what a token looks at.

import { css, el, follow, inkOn, inks, live, mix, rgb, rgbText, styles } from "../_shared/common.js";
import { chance, percent } from "../_shared/numbers.js";
import { stepPlayer } from "../_shared/player.js";

export default function (component) {
  return live(component, (root, send) => new TwoHalves(root, send));
}

class TwoHalves {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.player = stepPlayer(root, send, () => this.draw(), 1400);
    this.heads = el("div", "halves-heads", null, { role: "group" });
    this.caption = el("p", "halves-caption", null, { role: "status", "aria-live": "polite" });
    this.encoder = this.half("encoder");
    this.decoder = this.half("decoder");
    this.said = el("div", "halves-said");
    const frame = el("div", "halves-frame");
    frame.append(this.encoder.box, this.decoder.box);
    this.decoder.box.append(this.said);
    root.append(this.heads, this.caption, frame);
    this.chosen = 0;
    this.pointed = null; // [half, place], while the hand is on a chip
  }

  half(name) {
    const box = el("section", `half ${name}`);
    const title = el("div", "half-title");
    const asks = el("p", "half-asks muted");
    const row = el("div", "half-chips");
    const point = (event) => {
      const chip = event.target.closest?.("[data-at]");
      this.pointed = chip ? [name, Number(chip.dataset.at)] : null;
      this.colour();
    };
    const leave = () => {
      this.pointed = null;
      this.colour();
    };
    row.onpointerover = point;
    row.onpointerleave = leave;
    row.addEventListener("focusin", point);
    row.addEventListener("focusout", leave);
    row.onkeydown = (event) => this.key(event, row);
    box.append(title, asks, row);
    return { box, title, asks, row };
  }

  update(data) {
    this.data = data;
    const { words, read, names, captions } = data;
    this.chosen = Math.min(follow(this, "chosen", data.chosen, this.chosen) ?? 0, names.length - 1);
    const step = Math.min(follow(this, "step", data.step, this.player.step) ?? 0, read.length);
    this.player.bar.setAttribute("aria-label", words.player);
    this.heads.setAttribute("aria-label", words.heads);
    this.encoder.title.textContent = words.encoder;
    this.decoder.title.textContent = words.decoder;
    this.heads.replaceChildren(
      el("span", "muted", words.heads),
      ...names.map((name, h) => {
        const tab = el("button", "halves-head num", name, { type: "button", "data-head": h });
        tab.onclick = () => {
          this.chosen = h;
          this.draw();
          this.send("chosen", h);
        };
        return tab;
      }),
    );
    this.fill(this.encoder.row, data.source);
    this.player.configure(read.length, step, { label: (at) => captions[at] });
    this.draw();
  }

  layout() {
    if (this.data) this.draw();
  }

  fill(row, tokens) {
    row.replaceChildren(
      ...tokens.map((token, at) => {
        const chip = el("span", "half-chip", null, { "data-at": at, tabindex: at ? -1 : 0 });
        chip.append(el("span", "half-word", token), el("span", "half-share num"));
        return chip;
      }),
    );
  }

  draw() {
    if (!this.data) return;
    const { words, read, best, chances, captions } = this.data;
    const step = this.player.step;
    this.pointed = null;
    this.heads.querySelectorAll("button").forEach((tab, h) => tab.setAttribute("aria-pressed", h === this.chosen));
    this.caption.textContent = captions[step];
    this.fill(this.decoder.row, read.slice(0, step));
    this.decoder.box.classList.toggle("idle", step === 0);
    if (step === 0) this.decoder.row.append(el("span", "muted", words.nothing));
    const bars = step === 0 ? [] : best[step - 1];
    const wide = bars.length;
    this.said.replaceChildren(
      ...(wide ? [el("div", "half-title", words.says)] : []),
      ...bars.map((word, k) => {
        const p = chances[(step - 1) * wide + k];
        const line = el("div", k ? "said-line" : "said-line first");
        const track = el("span", "said-track");
        const bar = el("span", "said-bar");
        bar.style.width = `${100 * p}%`;
        track.append(bar);
        line.append(el("span", "said-word", word), track, el("span", "num", chance(p)));
        return line;
      }),
    );
    this.colour();
  }

  // At step 0 the encoder's last token is looked at, later the decoder's newest, or the one pointed at.
  colour() {
    const { source, read, encoder, own, cross, words } = this.data;
    const step = this.player.step;
    const [half, at] = this.pointed ?? (step ? ["decoder", step - 1] : ["encoder", source.length - 1]);
    const [s, t, h] = [source.length, read.length, this.chosen];
    const asking = half === "encoder" ? source[at] : read[at];
    const shares = (weights, rows, columns) => weights.subarray((h * rows + at) * columns, (h * rows + at + 1) * columns);
    const text = (line) => line.replace("{token}", () => asking);
    if (half === "encoder") {
      this.paint(this.encoder.row, shares(encoder, s, s), at);
      this.paint(this.decoder.row, null, -1);
      this.encoder.asks.textContent = text(words.reads);
      this.decoder.asks.textContent = "";
    } else {
      this.paint(this.encoder.row, shares(cross, t, s), -1);
      this.paint(this.decoder.row, shares(own, t, t), at);
      this.encoder.asks.textContent = text(words.crossed);
      this.decoder.asks.textContent = text(words.masked);
    }
  }

  paint(row, weights, asking) {
    const paper = rgb(css(this.root, "--st-background-color") || css(this.root, "--lv-surface"));
    const full = rgb(css(this.root, "--lv-weights"));
    const both = inks(styles(this.root));
    row.querySelectorAll("[data-at]").forEach((chip, i) => {
      const color = mix(paper, full, weights ? weights[i] / 255 : 0);
      chip.style.background = rgbText(color);
      chip.style.color = inkOn(color, both);
      chip.lastChild.textContent = weights ? percent(weights[i] / 255, 0) : "";
      chip.toggleAttribute("data-asks", i === asking);
    });
  }

  key(event, row) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const to = by && row.querySelector(`[data-at="${Number(event.target.dataset.at) + by}"]`);
    if (!to) return;
    event.preventDefault();
    to.focus();
  }
}
