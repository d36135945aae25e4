// A page on a projector: arrow keys and a presenter's remote go on by a step of a player, a section, a chapter;
// a light shows what the pointer is on, here and for a class that follows.

import { el, live, partAddress } from "../_shared/common.js";
import { Light, pointedAt } from "../_shared/pointed.js";

const acts = new WeakMap();

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const leave = () => acts.get(component.parentElement)("leave", true);
  return live(component, (root) => new Projector(root, leave));
}

const KEYS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
// What has its own use for arrows.
const OWN = "input, textarea, select, [contenteditable=true], [role=slider], [role=radio], [role=combobox], [role=listbox], [role=menu]";
const SCREEN = 0.85; // of the window: so far at most goes a section at once
const NEAR = 24; // pixels from the top within which a heading stands already
const PAUSE = 350; // milliseconds between two places that are sent
const AGAIN = 4000; // until a place is sent once more: a class forgets one of which it hears no more

class Projector {
  constructor(root, leave) {
    this.light = new Light(root);
    this.on = false; // whether the light is
    this.bar = el("div", "projector", null, { role: "toolbar" });
    this.back = this.button("‹", () => this.go(-1, true));
    this.next = this.button("›", () => this.go(1, true));
    this.laser = this.button("", () => this.point(!this.on));
    this.close = this.button("", leave);
    root.append(this.bar);
    this.life = new AbortController();
    const { signal } = this.life;
    document.addEventListener("keydown", (event) => event.key.startsWith("Page") && this.key(event), { capture: true, signal });
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    document.addEventListener("pointermove", (event) => this.on && this.see(event), { capture: true, passive: true, signal });
  }

  button(text, press) {
    const button = el("button", "press", text, { type: "button" });
    button.onclick = press;
    this.bar.append(button);
    return button;
  }

  update(data) {
    this.data = data;
    const { words } = data;
    this.bar.setAttribute("aria-label", words.bar);
    this.laser.textContent = words.laser;
    this.close.textContent = words.leave;
    for (const [button, text] of [
      [this.back, words.back],
      [this.next, words.next],
    ]) {
      button.setAttribute("aria-label", text);
      button.title = text;
    }
    this.point(this.on);
  }

  // ---- going on

  key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const at = event.composedPath()[0];
    const remote = event.key.startsWith("Page");
    if (!remote && at.matches?.(OWN)) return;
    if (event.key === "l" || event.key === "L") this.point(!this.on);
    else if (event.key in KEYS) this.go(KEYS[event.key], remote, /Up|Down/.test(event.key) && !remote);
    else return;
    event.preventDefault();
    if (remote) event.stopPropagation();
  }

  // way: 1 on, -1 back. tenths: a player goes by a tenth of its steps, as its own key does; pass: no player is asked.
  go(way, tenths, pass = false) {
    const player = pass ? null : this.player(way);
    if (!player) return this.section(way);
    const key = tenths ? ["PageUp", "PageDown"] : ["ArrowLeft", "ArrowRight"];
    player.dispatchEvent(new KeyboardEvent("keydown", { key: key[way > 0 ? 1 : 0], cancelable: true }));
  }

  // A player in view that has steps left on this way: the first one, or backwards the last.
  player(way) {
    const bars = [...globalThis.llmvizPictures.keys()].flatMap((root) => [...root.querySelectorAll(".player")]);
    const left = bars.filter((bar) => {
      const { top, bottom, width } = bar.getBoundingClientRect();
      return width > 0 && top >= 0 && bottom <= window.innerHeight && !bar.querySelectorAll(".icon")[way > 0 ? 2 : 0].disabled;
    });
    left.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
    return left.at(way > 0 ? 0 : -1);
  }

  section(way) {
    const main = document.querySelector("[data-testid=stMain]");
    const top = main.getBoundingClientRect().top + NEAR;
    const most = SCREEN * main.clientHeight;
    const heads = [...main.querySelectorAll("h1, h2, h3")].map((head) => head.getBoundingClientRect().top - top);
    if (way > 0 && main.scrollHeight - main.scrollTop - main.clientHeight < 2) return this.press("_next", main);
    if (way < 0 && main.scrollTop < 2) return this.press("_back", main);
    const next = way > 0 ? heads.find((at) => at > NEAR) : heads.findLast((at) => at < -NEAR);
    main.scrollBy({ top: Math.max(-most, Math.min(most, next ?? way * most)), behavior: "instant" });
  }

  press(name, main) {
    const button = main.querySelector(`[class*="st-key-${name}"] button`);
    if (!button) return;
    button.click();
    main.scrollTo({ top: 0, behavior: "instant" });
  }

  // ---- pointing

  point(on) {
    const before = this.on;
    this.on = on;
    this.laser.setAttribute("aria-pressed", on);
    if (on === before) return;
    if (!on) this.show(null);
    clearInterval(this.again);
    if (on) this.again = setInterval(() => this.target && this.post(), AGAIN);
  }

  see(event) {
    const target = event.composedPath().includes(this.bar) ? null : pointedAt(event);
    if (JSON.stringify(target) !== JSON.stringify(this.target)) this.show(target);
  }

  show(target) {
    this.target = target;
    this.light.show(target);
    if (!this.waiting) {
      this.waiting = true;
      setTimeout(() => {
        this.waiting = false;
        this.post();
      }, PAUSE);
    }
  }

  post() {
    if (!this.data?.address) return;
    const body = JSON.stringify(this.target ?? null);
    const headers = { "Content-Type": "application/json" };
    fetch(partAddress(this.data.address), { method: "POST", headers, body }).catch(() => {}); // sent again later
  }

  destroy() {
    clearInterval(this.again);
    if (this.target) {
      this.target = null;
      this.post();
    }
    this.life.abort();
    this.light.destroy();
  }
}
