// Whether the page follows a link by itself: not for a hand that wants it in another window.
export function followed(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return false;
  event.preventDefault();
  return true;
}

// A link that the page follows by itself.
export function followsHand(link, go) {
  link.addEventListener("click", (event) => followed(event) && go());
}
