// The blocks of the memory, in the colour of the request that holds them, filled as far as they are used.

import { el } from "../_shared/common.js";

export class BlockGrid {
  constructor(choose) {
    this.node = el("div", "block-grid", null, { role: "list" });
    this.node.onclick = (event) => {
      const cell = event.target.closest?.("[data-block]");
      const holders = cell ? this.owners[Number(cell.dataset.block)] : [];
      if (holders.length) choose(holders[0][0]);
    };
  }

  configure(data) {
    this.data = data;
    this.drawn = [];
    this.cells = Array.from({ length: data.blocks }, (_, block) => {
      const cell = el("span", "block", null, { "data-block": block, role: "listitem" });
      const fill = el("span", "block-fill");
      const count = el("span", "block-count num");
      cell.append(fill, count);
      return { cell, fill, count };
    });
    this.node.replaceChildren(...this.cells.map(({ cell }) => cell));
  }

  // Only the blocks that changed are touched.
  paint(owners, kept, chosen, colour) {
    const { words, blockSize, sequences } = this.data;
    this.owners = owners;
    this.cells.forEach(({ cell, fill, count }, block) => {
      const holders = owners[block];
      const used = holders.reduce((most, [, slots]) => Math.max(most, slots), 0);
      const first = holders.length ? colour(holders[0][0]) : "";
      const second = holders.length > 1 ? colour(holders[1][0]) : first;
      const mine = holders.some(([sequence]) => sequence === chosen);
      const now = [first, second, used, mine, kept.has(block), ...holders.map(([sequence]) => sequence)].join();
      if (this.drawn[block] === now) return;
      this.drawn[block] = now;
      cell.classList.toggle("held", holders.length > 0);
      cell.classList.toggle("shared", holders.length > 1);
      cell.classList.toggle("mine", mine);
      cell.classList.toggle("kept", kept.has(block));
      cell.style.setProperty("--first", first);
      fill.style.height = `${(100 * used) / blockSize}%`;
      fill.style.background = holders.length > 1 ? `repeating-linear-gradient(135deg, ${first} 0 5px, ${second} 5px 10px)` : first;
      count.textContent = holders.length > 1 ? `×${holders.length}` : "";
      const names = holders.map(([sequence]) => sequences[sequence].name).join(", ");
      const line = `${words.block} ${block}: ${names ? `${names}, ${used}/${blockSize}` : kept.has(block) ? words.keptBlock : words.freeBlock}`;
      cell.title = line;
      cell.setAttribute("aria-label", line);
    });
  }
}
