// Several heads on the same tokens, one drawn at a time; switching needs no server.

import { el, follow, live } from "../_shared/common.js";
import { HeadLines } from "../_shared/head_lines.js";

export default function (component) {
  return live(component, (root, send) => new HeadView(root, send));
}

class HeadView {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.tabs = el("div", "head-tabs", null, { role: "group", "aria-label": "heads" });
    root.append(this.tabs);
    this.lines = new HeadLines(root);
    this.chosen = 0;
  }

  update(data, width) {
    this.data = data;
    const [heads] = data.cells.shape;
    this.chosen = Math.min(follow(this, "chosen", data.chosen, this.chosen) ?? 0, heads - 1);
    this.tabs.hidden = heads < 2;
    this.tabs.replaceChildren(
      ...data.names.map((name, h) => {
        const tab = el("button", "head-tab", null, { type: "button", "data-head": h });
        tab.append(el("span", null, name), el("span", "muted", data.notes[h] ?? ""));
        tab.onclick = () => this.choose(h);
        return tab;
      }),
    );
    this.layout(width);
  }

  layout(width) {
    this.width = width;
    const { cells, tokens, keyTokens, marks, names } = this.data;
    const [, queries, keys] = cells.shape;
    const from = this.chosen * queries * keys;
    this.tabs.querySelectorAll("button").forEach((tab, h) => tab.setAttribute("aria-pressed", h === this.chosen));
    this.lines.show({ tokens, keyTokens, marks, title: names[this.chosen], cells: (q, k) => cells[from + q * keys + k] }, width);
  }

  choose(h) {
    this.chosen = h;
    this.layout(this.width);
    this.send("chosen", h);
  }
}
