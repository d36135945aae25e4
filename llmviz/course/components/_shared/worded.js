// The words that a script has of its own, in the page's language. It names them in English, as components.md has them.

// From a message's end: what is said for each English text; nothing where the page is English.
export function hear(words) {
  globalThis.llmvizSaid = words;
}

// The text, whose {gaps} are filled by name.
export function worded(english, values = {}) {
  const text = globalThis.llmvizSaid?.[english] ?? english;
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}
