// The pictures of the components on the page, each as the menu needs it.

import { around, drawing, photo, sharper } from "./image.js";
import { piecesOf, styleOf } from "./page.js";
import { tablesOf } from "./tables.js";

const NARROW_ICON = 80; // pixels: what is narrower is an icon

export class Picture {
  constructor(entry, all) {
    this.entry = entry;
    this.all = all;
    this.key = entry.key;
    this.node = entry.root;
  }

  get drawings() {
    return [...this.node.querySelectorAll("svg")].filter(
      (one) => one.getBoundingClientRect().width > NARROW_ICON && !one.parentElement.closest("svg"),
    );
  }

  // Drawn as SVG: no canvas, and no words on the drawing that are not in it.
  get flat() {
    const { drawings } = this;
    if (!drawings.length || this.node.querySelector("canvas")) return false;
    const { top, bottom } = around(drawings);
    const words = document.createTreeWalker(this.node, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
      const holder = words.currentNode.parentElement;
      const at = holder.getBoundingClientRect();
      const beside = at.width > 0 && at.top + at.bottom > 2 * top && at.top + at.bottom < 2 * bottom;
      if (beside && words.currentNode.data.trim() && !holder.closest("svg, .card")) return false;
    }
    return true;
  }

  svg(ground) {
    return drawing(this.drawings, ground, this.node).text;
  }

  png(ground, title) {
    const { root, view, width, data } = this.entry;
    const redraw = () => (view.layout ? view.layout(width) : view.update(data, width));
    const sharp = root.querySelector("canvas") && window.devicePixelRatio < 2 ? (work) => sharper(redraw, work) : (work) => work();
    return sharp(() => photo(root, styleOf(root), ground, title));
  }

  tables() {
    return this.entries.flatMap(({ data }) => tablesOf(data.run ?? data));
  }

  page() {
    return piecesOf(this.entries);
  }

  // The picture, after what it draws from: the runs of a chart lie in components of their own.
  get entries() {
    const stores = new Set((Array.isArray(this.entry.data.runs) ? this.entry.data.runs : []).map((run) => run.store));
    const others = [...this.all.values()].filter((one) => one.data?.store && stores.has(one.data.store));
    return [...others, this.entry];
  }
}
