// A sentence with what may come next, and below it what was guessed at each stop and what was right.

import { el, live } from "../_shared/common.js";
import { percent } from "../_shared/numbers.js";

export default function (component) {
  return live(component, (root) => new Keepsake(root));
}

class Keepsake {
  constructor(root) {
    this.root = root;
  }

  update({ sentence, following, lines, words }) {
    const sheet = el("section", "sheet", null, { "aria-label": words.picture });
    const text = el("p", "sentence", sentence);
    if (following.length) text.append(el("strong", "best", following[0][0]));
    const next = el("p", "next num");
    next.append(...following.map(([token, share]) => el("span", "token", `${token} ${percent(share)}`)));
    sheet.append(el("h3", "title", words.title), text, next, ...lines.map((line) => this.line(line, words)));
    this.root.replaceChildren(sheet);
  }

  line([title, asked, guess, right, graded], words) {
    const row = el("div", "row");
    const said = el("div", "said");
    const own = el("p", graded ? "own hit" : "own", `${words.guess} ${guess || words.none}`);
    said.append(own, el("p", "right", `${words.right} ${right}`));
    const what = el("div", "what");
    what.append(el("strong", "stop", title), el("p", "asked", asked));
    row.append(what, said);
    return row;
  }
}
