// Writes down in this browser what was opened and answered, and begins each page at its top.

import { unpack } from "../_shared/message.js";
import { noteAnswer, noteOpened } from "../_shared/progress.js";

let here = ""; // the page that this window shows

export default function (component) {
  const { place, question, right } = unpack(component.data);
  if (question !== undefined) return noteAnswer(place, question, right);
  if (place.includes("/")) noteOpened(place); // other pages have no chapters
  if (here && here !== place) toTop(document.querySelector("[data-testid=stMain]"));
  here = place;
}

// The link to it may have stood far down on another page, and the browser stays where it was. So does a
// keyboard, unless it is in a list that stands on both.
function toTop(main) {
  main?.scrollTo({ top: 0, behavior: "instant" });
  const tabs = main?.querySelector("[data-testid=stButtonGroup]");
  const at = document.activeElement;
  if (!at.closest(".stSidebar, dialog") && !tabs?.contains(at)) main?.focus({ preventScroll: true });
}
