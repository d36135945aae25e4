// Writes down in this browser what was opened and answered, and begins each page at its top.

import { unpack } from "../_shared/message.js";
import { noteAnswer, noteOpened } from "../_shared/progress.js";

const TRIES = 20; // until the row stands
const FADE = "36px"; // of a row that goes on
let here = ""; // the page that this window shows

export default function (component) {
  const { place, question, right } = unpack(component.data);
  if (question !== undefined) return noteAnswer(place, question, right);
  if (place.includes("/")) noteOpened(place); // other pages have no chapters
  if (here && here !== place) toTop(document.querySelector("[data-testid=stMain]"));
  here = place;
  setTimeout(() => showChosen(TRIES), 0); // once the page has its tabs
}

// In a narrow window the names of the chapters are a row that scrolls: it begins at the chosen one, and fades where
// it goes on.
function showChosen(tries) {
  const chosen = document.querySelector("[class*='-part-'] [role=radiogroup] [data-selected=true]");
  const row = chosen?.closest("[role=radiogroup]");
  if (!row) {
    if (tries) setTimeout(() => showChosen(tries - 1), 100);
    return;
  }
  row.scrollLeft = chosen.offsetLeft - row.offsetLeft - (row.clientWidth - chosen.offsetWidth) / 2;
  const fade = () => {
    const left = row.scrollWidth - row.clientWidth - row.scrollLeft;
    row.style.setProperty("--before", row.scrollLeft > 1 ? FADE : "0px");
    row.style.setProperty("--more", left > 1 ? FADE : "0px");
  };
  row.onscroll = fade;
  fade();
}

// The link to it may have stood far down on another page, and the browser stays where it was. So does a
// keyboard, unless it is in a list that stands on both.
function toTop(main) {
  main?.scrollTo({ top: 0, behavior: "instant" });
  const tabs = main?.querySelector("[data-testid=stButtonGroup]");
  const at = document.activeElement;
  if (!at.closest(".stSidebar, dialog") && !tabs?.contains(at)) main?.focus({ preventScroll: true });
}
