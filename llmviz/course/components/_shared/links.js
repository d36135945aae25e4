// A link that the page follows by itself, but for a hand that wants it in another window.
export function followsHand(link, go) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go();
  });
}
