// The text field of a chapter's own part. What reads it is loaded when it is seen; what was typed
// stays in this browser, where it keeps anything, and stands in the fields of the other chapters, too.

const KEPT = "llmviz-own-text";

// name: what the ids of its elements begin with. load: gives a promise of what reads; read: is given
// this and the text, at first and after each change, and returns what is to be said of it, if anything.
export function ownText(name, load, read) {
  const field = document.getElementById(`${name}-text`);
  const told = document.getElementById(`${name}-told`);
  const tell = (text) => (told.textContent = text ?? "");
  let reader = null;
  let waiting = 0;
  const again = () => reader && tell(read(reader, field.value));
  try {
    field.value = localStorage.getItem(KEPT) || field.value;
  } catch {} // a browser that keeps nothing
  field.addEventListener("input", () => {
    try {
      localStorage.setItem(KEPT, field.value);
    } catch {}
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(again);
  });
  new IntersectionObserver(async ([{ isIntersecting }], observer) => {
    if (!isIntersecting) return;
    observer.disconnect();
    tell("Loading …");
    try {
      reader = await load();
    } catch (error) {
      console.error(error);
      return tell("A file of this page is missing.");
    }
    again();
  }).observe(field);
  return again;
}
