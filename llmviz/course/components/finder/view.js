// A search over chapters, their questions and the terms of the glossary: in the box, or by Ctrl K.
// Below it stands what this browser keeps of the way so far.

import { el, live, sentence } from "../_shared/common.js";
import { followed, followsHand } from "../_shared/links.js";
import { follows, keep, progress } from "../_shared/progress.js";
import { Saver } from "../_shared/saver/saver.js";
import { hits } from "./search.js";

const acts = new WeakMap();
const MAC = /Mac|iPhone|iPad/.test(navigator.platform);

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const go = (place) => acts.get(component.parentElement)("go", place);
  return live(component, (root) => new Finder(root, go));
}

class Finder {
  constructor(root, go) {
    this.go = go;
    this.opener = el("button", "find-opener", null, { type: "button", "aria-haspopup": "dialog", "aria-keyshortcuts": "Control+K Meta+K" });
    this.opener.append((this.label = el("span")), el("kbd", null, MAC ? "⌘ K" : "Ctrl K"));
    this.opener.onclick = () => this.open();
    this.line = el("p", "so-far", null, { role: "status" });
    this.box = el("dialog", "find-box");
    this.input = el("input", "find-wanted", null, {
      type: "text",
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "found",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.list = el("div", "find-list", null, { role: "listbox", id: "found" });
    this.none = el("p", "find-none", null, { role: "status" });
    this.box.append(this.input, this.list, this.none);
    this.input.oninput = () => this.find();
    this.input.onkeydown = (event) => this.key(event);
    this.box.onclick = (event) => event.target === this.box && this.box.close(); // beside the list
    root.append(this.opener, this.line, this.box);
    this.shortcut = (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      this.box.open ? this.box.close() : this.open();
    };
    document.addEventListener("keydown", this.shortcut, true);
    this.inText = (event) => {
      const link = event.target.closest?.("a.lv-place"); // of the glossary
      if (link && followed(event)) this.go(link.dataset.place);
    };
    document.addEventListener("click", this.inText);
    this.unfollow = follows(() => this.count());
    this.saver = new Saver(root); // the menu of every picture: this stands on every page
  }

  update(data) {
    this.data = data;
    this.label.textContent = data.words.find;
    this.input.setAttribute("aria-label", data.words.find);
    this.input.placeholder = data.words.hint;
    this.box.setAttribute("aria-label", data.words.find);
    this.count();
    this.saver.update();
    if (this.wanted) this.open();
  }

  layout() {
    this.saver.layout();
  }

  // Asked for before the index is here, it opens once that has come.
  open() {
    this.wanted = !this.data;
    if (this.wanted || this.box.open) return;
    this.input.value = "";
    this.find();
    this.box.showModal();
    this.input.focus();
  }

  find() {
    const { words } = this.data;
    this.at = 0;
    const found = hits(this.data, this.input.value);
    this.found = found.map((hit, index) => {
      const row = el("a", "find-hit", null, { href: hit.link, role: "option", id: `hit${index}`, tabindex: "-1" });
      row.append(el("span", "find-title", hit.title), el("span", "find-where", hit.where), el("span", "find-text", hit.text));
      followsHand(row, () => this.choose(hit));
      row.onmousemove = () => this.mark(index);
      return { hit, row };
    });
    this.list.replaceChildren(...this.found.map(({ row }) => row));
    this.none.textContent = found.length ? "" : words.none;
    this.mark(0);
  }

  mark(index) {
    this.at = index;
    this.found.forEach(({ row }, i) => {
      row.setAttribute("aria-selected", i === index);
    });
    if (this.found.length) this.input.setAttribute("aria-activedescendant", `hit${index}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const count = this.found.length;
    if (event.key === "Enter" && count) this.choose(this.found[this.at].hit);
    else if (event.key === "ArrowDown" && count) this.mark((this.at + 1) % count);
    else if (event.key === "ArrowUp" && count) this.mark((this.at + count - 1) % count);
    else return;
    event.preventDefault();
    this.found[this.at]?.row.scrollIntoView({ block: "nearest" });
  }

  choose(hit) {
    this.box.close();
    this.go(hit.place);
  }

  // What was opened so far, and how to forget it; what was just forgotten can be brought back.
  count() {
    if (!this.data) return;
    const { words, chapters } = this.data;
    const known = progress();
    const opened = chapters.filter(({ place }) => known.opened.includes(place)).length;
    const answered = Object.values(known.answered).flatMap(Object.values).length;
    const acts = [];
    if (known.opened.length || answered) {
      acts.push(this.act(words.clear, () => this.forget(known)));
    } else if (this.forgotten) acts.push(this.act(words.undo, () => keep(this.forgotten)));
    const text =
      opened || answered ? sentence(words.so_far, { opened, all: chapters.length, answered }) : this.forgotten ? words.cleared : "";
    this.line.replaceChildren(text, acts.length ? " " : "", ...acts);
    this.line.hidden = !text;
  }

  forget(known) {
    this.forgotten = known;
    keep({ opened: [], answered: {} });
  }

  act(text, work) {
    const button = el("button", "find-act", text, { type: "button" });
    button.onclick = work;
    return button;
  }

  destroy() {
    document.removeEventListener("keydown", this.shortcut, true);
    document.removeEventListener("click", this.inText);
    this.unfollow();
    this.saver.destroy();
  }
}
