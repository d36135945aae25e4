// Writes down in this browser what was opened and answered, and begins each page at its top, or at the section that an
// older link means.

import { unpack } from "../_shared/message.js";
import { noteAnswer, noteOpened } from "../_shared/progress.js";

const TRIES = 20; // until the row stands
const WAITS = 100; // tenths of a second until the section that is sought stands
const SETTLES = 20; // and until what stands above it has its height
const HANDS = ["wheel", "touchmove", "pointerdown", "keydown"];
const FADE = "36px"; // of a row that goes on
let here = ""; // the page that this window shows
let reached = ""; // the section of it that was sought

export default function (component) {
  const { place, section, language, question, right } = unpack(component.data);
  if (question !== undefined) return noteAnswer(place, question, right);
  document.documentElement.lang = language;
  if (place.includes("/")) noteOpened(place); // other pages have no chapters
  if (here && here !== place) toTop(document.querySelector("[data-testid=stMain]"));
  here = place;
  if (section && section !== reached) reach();
  reached = section;
  setTimeout(() => showChosen(TRIES), 0); // once the page has its tabs
}

// Follow a section while the page above it grows; a hand on the page ends that.
function reach() {
  const hand = new AbortController();
  for (const name of HANDS) addEventListener(name, () => hand.abort(), { signal: hand.signal, passive: true });
  let left = WAITS;
  const look = () => {
    if (hand.signal.aborted) return; // a hand may have opened the next page meanwhile
    const head = document.querySelector(".st-key-lv-sought");
    head?.scrollIntoView({ block: "start", behavior: "instant" });
    if (head) left = Math.min(left, SETTLES);
    if (left--) setTimeout(look, 100);
    else hand.abort();
  };
  look();
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
