// The text field of a chapter's stage. While it holds the example, the picture that was written of it
// stands with its question; any other text is read here, and its live picture takes that place. What
// reads it comes behind the first picture. What was typed stays in this browser, where it keeps
// anything, and stands in the fields of the other chapters, too. The address carries it behind a #,
// which no browser sends to a host.

const KEPT = "llmviz-own-text";
const LINKED = 2000; // characters that an address carries
const follows = (a, b) => a.compareDocumentPosition(b) === Node.DOCUMENT_POSITION_FOLLOWING;

// name: what the ids of its elements begin with. load: gives a promise of what reads; read: is given
// this and the text, at first and after each change, and returns what is to be said of it, if anything.
// always: the example is read here, too, since nothing is asked about its picture.
export function ownText(name, load, read, { always = false } = {}) {
  const at = (part) => document.getElementById(`${name}-${part}`);
  const [field, told, back, section] = [at("text"), at("told"), at("back"), document.getElementById("own")];
  const example = field.defaultValue;
  const all = [...document.querySelectorAll("main *")];
  const heading = all.find((node) => node.tagName === "H2" && follows(section, node));
  for (const node of all) if (follows(section, node) && follows(node, heading)) node.classList.add("of-example");
  const tell = (text) => (told.textContent = text ?? "");
  const isOwn = () => field.value !== example;
  let reader = null;
  let coming = null;
  let waiting = 0;

  function again() {
    back.hidden = !isOwn();
    const lives = always || isOwn();
    if (lives && !reader) return come();
    document.body.classList.toggle("reads-own", lives);
    at("live").hidden = !lives;
    tell(lives ? read(reader, field.value) : "");
  }
  async function come() {
    if (coming) return;
    if (isOwn()) tell("Loading the model …");
    try {
      reader = await (coming = load());
    } catch (error) {
      console.error(error);
      return tell("A file of this page is missing.");
    }
    again();
  }
  function keep() {
    try {
      if (isOwn()) localStorage.setItem(KEPT, field.value);
      else localStorage.removeItem(KEPT);
    } catch {} // a browser that keeps nothing
    link();
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(again);
  }
  function link() {
    const carried = isOwn() && field.value.length <= LINKED ? `#${new URLSearchParams({ text: field.value })}` : "";
    history.replaceState(null, "", location.pathname + location.search + carried);
  }
  const linked = new URLSearchParams(location.hash.slice(1)).get("text");
  try {
    field.value = localStorage.getItem(KEPT) || field.value;
  } catch {}
  field.value = linked ?? field.value;
  field.addEventListener("input", keep);
  field.addEventListener("focus", come);
  back.addEventListener("click", () => {
    field.value = example;
    keep();
    field.focus();
  });
  if (document.readyState === "complete") again();
  else addEventListener("load", again); // what the page itself loads comes first
}
