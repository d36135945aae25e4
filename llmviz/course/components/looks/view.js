// Passages of text; a link in one asks the page for a state, and the picture above follows.

import { el, isCalm, live } from "../_shared/common.js";

const asks = new WeakMap();

export default function (component) {
  asks.set(component.parentElement, component.setTriggerValue);
  const ask = (look) => asks.get(component.parentElement)("look", look);
  return live(component, (root) => new Looks(root, ask));
}

class Looks {
  constructor(root, ask) {
    this.root = root;
    this.ask = ask;
  }

  update(data) {
    const focused = [...this.root.querySelectorAll("button")].indexOf(document.activeElement);
    this.root.replaceChildren(
      ...data.passages.map((pieces) => {
        const line = el("p", "look-line");
        line.append(...pieces.map(([text, look, on]) => this.piece(text, look, on)));
        return line;
      }),
    );
    if (focused >= 0) this.root.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
  }

  piece(text, look, on) {
    if (!look) return document.createTextNode(text);
    const link = el("button", on ? "look on" : "look", text, { type: "button", "aria-pressed": on });
    link.onclick = () => {
      this.ask(look);
      this.seePicture();
    };
    return link;
  }

  // The picture that is looked at comes into view, where it is not: it is the stage before these passages,
  // or stands under the head of a section that began after the stage.
  seePicture() {
    const around = this.root.getRootNode();
    const host = around instanceof ShadowRoot ? around.host : this.root;
    const before = [...document.querySelectorAll("[class*='st-key-lv-st'], [data-testid='stMain'] h2")].filter(
      (place) => host.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_PRECEDING,
    );
    const behavior = isCalm() ? "auto" : "smooth";
    before.at(-1)?.scrollIntoView({ block: "nearest", behavior });
  }
}
