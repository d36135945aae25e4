// Where a picture stands: the app's address, and the words around it on the page.

const MOST = 4000; // letters of a caption or setting that a saved page repeats

const isBefore = (a, b) => Boolean(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING);
// biome-ignore lint/performance/useDomNodeTextContent: without what is hidden, such as a term's explanation
const textOf = (node) => node.innerText.trim().slice(0, MOST);

// What is said of a guess serves nobody who cannot make it.
const isTold = (node) => !node.closest("[class*=st-key-lv-guess-]");

// The words that a saved page has around a picture: the nearest heading above, its text, the controls.
export function wordsAround(host) {
  const page = document.querySelector("[data-testid=stMain]") ?? document.body;
  const heads = [...page.querySelectorAll("h1, h2, h3")].filter((one) => isBefore(one, host));
  const head = heads.at(-1);
  const text = [...page.querySelectorAll(".lv-prose p")].filter((one) => isBefore(one, host) && (!head || isBefore(head, one)));
  const below = [...(host.nextElementSibling?.querySelectorAll("[data-testid=stCaptionContainer] p") ?? [])];
  return {
    title: [...new Set([head, heads[0]].filter(Boolean).map(textOf))].concat("llmviz").join(" · "),
    heading: head ? textOf(head) : document.title,
    caption: [...text.filter(isTold).slice(-3), ...below.filter(isTold)].map(textOf).filter(Boolean),
    settings: settingsOf(page),
    link: linkOf(),
  };
}

const BOXES = ["TextArea", "TextInput", "NumberInput", "Selectbox", "Slider"].map((kind) => `[data-testid=st${kind}]`).join();

// The texts, numbers and choices of the page as they stand: the learner's text, the model.
function settingsOf(page) {
  const found = [];
  for (const box of page.querySelectorAll(BOXES)) {
    const [label, field] = [box.querySelector("label"), box.querySelector("textarea, input")];
    const choice = box.querySelector("[data-baseweb=select]");
    const at = box.querySelector("[data-testid=stSliderThumbValue]");
    const value = at ? textOf(at) : field?.value || (choice ? textOf(choice) : "");
    const name = label ? textOf(label) : ""; // none where the box is folded away
    if (name && value && box.offsetParent) found.push([name, value.slice(0, MOST)]);
  }
  return found;
}

export function linkOf(more = {}) {
  const link = new URL(location.href);
  for (const name of ["embed", "embed_options"]) link.searchParams.delete(name);
  for (const name in more) link.searchParams.set(name, more[name]);
  return link.href;
}

// Only letters, digits and hyphens, whatever a run or a text is called.
export function fileName(key, ending) {
  const page = location.pathname.split("/").filter(Boolean).at(-1) ?? "home";
  const plain = `${page}-${key}`.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return `llmviz-${plain.slice(0, 60)}.${ending}`;
}
