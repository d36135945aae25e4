// A stream of tokens and the windows that are cut from it: inputs above, targets one later.

import { el, follow, live, onLeave } from "../_shared/common.js";
import { whole } from "../_shared/numbers.js";

export default function (component) {
  return live(component, (root, send) => new WindowsView(root, send));
}

class WindowsView {
  constructor(root, send) {
    this.root = root;
    this.send = send;
    this.flow = el("div", "flow", null, { role: "img" });
    this.legend = el("div", "legend");
    this.split = el("div", "split");
    this.list = el("div", "list", null, { role: "listbox", "aria-label": "windows" });
    this.tasks = el("div", "tasks", null, { "aria-live": "polite" });
    this.split.append(this.list, this.tasks);
    root.append(this.flow, this.legend, this.split);
    this.selected = null;
    const row = (event) => event.target.closest?.("[data-window]");
    this.list.addEventListener("pointerover", (e) => this.look(row(e)));
    onLeave(this.list, () => this.look(null));
    this.list.addEventListener("focusin", (e) => this.look(row(e)));
    this.list.addEventListener("focusout", () => this.look(null));
    this.list.addEventListener("click", (e) => this.choose(row(e)));
    this.list.addEventListener("keydown", (e) => this.keys(e));
  }

  update(data, width) {
    this.data = data;
    this.selected = follow(this, "selected", data.selected, this.selected);
    if (this.selected !== null && this.selected >= data.starts.length) this.selected = null;
    this.build();
    this.layout(width);
    this.look(null, true);
  }

  layout(width) {
    this.split.classList.toggle("narrow", width < 720);
  }

  build() {
    const { texts, starts, contextLength, batchSize, limit } = this.data;
    const seen = new Uint16Array(texts.length); // windows that read a token as input
    const target = new Uint8Array(texts.length);
    for (const start of starts) {
      for (let t = start; t < start + contextLength; t++) seen[t] += 1;
      for (let t = start + 1; t <= start + contextLength; t++) target[t] = 1;
    }
    const most = seen.reduce((a, b) => Math.max(a, b), 1);
    this.chips = texts.map((text, t) => {
      const chip = el("span", "chip", text);
      chip.style.setProperty("--share", seen[t] / most);
      const never = !seen[t] && !target[t];
      if (never) chip.classList.add("never");
      chip.title = never ? "in no window" : `input of ${seen[t]} ${seen[t] === 1 ? "window" : "windows"}`;
      return chip;
    });
    this.flow.replaceChildren(...this.chips);
    const lost = seen.reduce((n, count, t) => n + (!count && !target[t]), 0);
    this.flow.setAttribute("aria-label", `${texts.length} tokens, ${lost} in no window`);
    this.drawLegend(most, lost);
    const parts = [];
    const drawn = Math.min(starts.length, limit);
    for (let w = 0; w < drawn; w++) {
      if (w % batchSize === 0) {
        const last = Math.min(w + batchSize, starts.length);
        parts.push(el("div", "batch", `batch ${w / batchSize + 1} · ${last - w} × ${contextLength}`));
      }
      parts.push(this.row(w));
    }
    this.list.replaceChildren(...parts);
    if (drawn < starts.length) {
      this.list.appendChild(el("p", "cut", `The first ${drawn} of ${whole(starts.length)} windows are drawn.`));
    }
    if (!starts.length) this.list.appendChild(el("p", "cut", "The text is shorter than one window and its target."));
    this.items = [...this.list.querySelectorAll("[data-window]")];
    if (this.items.length) this.items[this.selected !== null && this.selected < drawn ? this.selected : 0].tabIndex = 0;
  }

  drawLegend(most, lost) {
    const parts = [
      el("span", null, "input of"),
      el("span", "num", "0"),
      el("span", "ramp"),
      el("span", "num", whole(most)),
      el("span", null, most === 1 ? "window" : "windows"),
    ];
    if (lost) parts.push(el("span", "chip never", "x"), el("span", null, `in no window: ${whole(lost)}`));
    this.legend.replaceChildren(...parts);
  }

  row(w) {
    const { texts, starts, contextLength } = this.data;
    const start = starts[w];
    const box = el("div", "window", null, { role: "option", "data-window": w, "aria-selected": "false" });
    box.tabIndex = -1;
    const line = (name, from) => {
      const lane = el("div", `lane ${name}`);
      lane.appendChild(el("span", "lane-name", name));
      for (let t = from; t < from + contextLength; t++) lane.appendChild(el("span", "cell", texts[t]));
      return lane;
    };
    box.setAttribute("aria-label", `window ${w + 1}: from ${texts[start]} to ${texts[start + contextLength - 1]}`);
    box.style.setProperty("--n", contextLength);
    box.append(line("input", start), line("target", start + 1));
    return box;
  }

  // What is pointed at, else what was chosen, else nothing.
  look(row, force) {
    const at = row ? Number(row.dataset.window) : this.selected;
    if (at === this.at && !force) return;
    this.at = at;
    const { starts, contextLength } = this.data;
    const start = at === null ? -1 : starts[at];
    this.flow.classList.toggle("dim", at !== null);
    this.chips.forEach((chip, t) => {
      chip.classList.toggle("in", at !== null && t >= start && t < start + contextLength);
      chip.classList.toggle("out", at !== null && t === start + contextLength);
    });
    this.list.classList.toggle("dim", Boolean(row));
    this.items.forEach((item, w) => {
      item.classList.toggle("hot", w === at);
      item.classList.toggle("selected", w === this.selected);
      item.setAttribute("aria-selected", String(w === this.selected));
    });
    this.drawTasks(at);
  }

  drawTasks(at) {
    if (!this.data.starts.length) return this.tasks.replaceChildren();
    const idle = at === null; // before anything is touched, the first window speaks
    at ??= 0;
    const { texts, starts, contextLength } = this.data;
    const start = starts[at];
    const parts = [el("div", "title", `window ${at + 1}: ${contextLength} ${contextLength === 1 ? "prediction" : "predictions"} to learn`)];
    const listed = Math.min(contextLength, 12);
    for (let n = 1; n <= listed; n++) {
      const task = el("div", "task");
      const given = el("span", "given", texts.slice(start, start + n).join(""));
      task.append(given, el("span", "arrow", "→"), el("span", "goal", texts[start + n]));
      parts.push(task);
    }
    if (listed < contextLength) parts.push(el("p", "cut", `… and ${contextLength - listed} more.`));
    if (idle) parts.push(el("p", "cut", "Point at another window; click to keep it."));
    this.tasks.replaceChildren(...parts);
  }

  choose(row) {
    if (!row) return;
    const at = Number(row.dataset.window);
    this.selected = this.selected === at ? null : at;
    this.look(row, true);
    this.send("selected", this.selected);
  }

  keys(event) {
    const here = this.items.indexOf(event.target);
    if (here < 0) return;
    const to = { ArrowDown: here + 1, ArrowRight: here + 1, ArrowUp: here - 1, ArrowLeft: here - 1, Home: 0, End: this.items.length - 1 }[
      event.key
    ];
    if (event.key === "Enter" || event.key === " ") this.choose(event.target);
    else if (event.key === "Escape" && this.selected !== null) this.choose(this.items[this.selected]);
    else if (to !== undefined) {
      const next = this.items[Math.max(0, Math.min(this.items.length - 1, to))];
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
