// What a live page says, in its language. Scripts name a text in English, as live.md has it.

// The text, whose {gaps} are filled by name.
export function say(english, values = {}) {
  const text = globalThis.llmvizSite?.said[english] ?? english;
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

// A line of script that tells a worker how its page speaks.
export function speaking() {
  const { said, inPictures, language } = globalThis.llmvizSite;
  return `globalThis.llmvizSite = ${JSON.stringify({ said, inPictures, language })};`;
}
