// A way through the course: numbered stops with their chapters, ticked where this browser keeps that
// they were opened.

import { el, live, sentence } from "../_shared/common.js";
import { followsHand } from "../_shared/links.js";
import { follows, progress } from "../_shared/progress.js";

const acts = new WeakMap();

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const go = (place) => acts.get(component.parentElement)("go", place);
  return live(component, (root) => new CoursePath(root, go));
}

class CoursePath {
  constructor(root, go) {
    this.go = go;
    this.path = el("ol", "way-path");
    root.append(this.path);
    this.unfollow = follows(() => this.tick());
  }

  update(data) {
    this.data = data;
    this.links = [];
    this.path.replaceChildren(...data.stops.map((stop) => this.stop(stop)));
    this.tick();
  }

  stop({ title, place, text, needs, minutes, chapters }) {
    const item = el("li", "way-stop");
    const head = el("div", "way-head");
    head.append(this.link(place, "way-title", title), el("span", "way-minutes", minutes));
    const top = el("div", "way-top"); // all of it is the link
    top.append(head);
    if (text) top.append(el("p", "way-text", text));
    if (needs) top.append(el("p", "way-needs", needs));
    item.append(top);
    if (chapters.length) {
      const list = el("ul", "way-chapters");
      for (const one of chapters) {
        const row = el("li");
        const link = this.link(one.place, "way-chapter", one.title);
        link.title = one.question;
        link.append(el("span", "way-minutes", `${one.minutes}′`));
        this.links.push([one.place, link]);
        row.append(link);
        list.append(row);
      }
      item.append(list);
    }
    return item;
  }

  link(place, name, text) {
    const link = el("a", name, text, { href: place.replace("/", "?part=") });
    followsHand(link, () => this.go(place));
    return link;
  }

  tick() {
    const { opened, answered } = progress();
    for (const [place, link] of this.links ?? []) {
      const known = opened.includes(place);
      link.classList.toggle("opened", known);
      const marks = Object.values(answered[place] ?? {});
      const words = this.data.words[marks.length ? "answered" : "opened"];
      link.setAttribute(
        "aria-label",
        known ? `${link.firstChild.textContent}. ${sentence(words, { count: marks.length })}` : link.textContent,
      );
    }
  }

  destroy() {
    this.unfollow();
  }
}
