// What a visitor has opened and answered, kept in this browser alone. Nothing of it goes to the server.

const NAME = "llmviz.progress";
const VERSION = 1;
const LONGEST = 20000; // characters: more was not written here
const CHANGED = "llmviz-progress";
const NOTHING = { opened: [], answered: {} };
// Chapters that were renamed or joined to another: what was read under the old name stays read.
const MOVED = {
  "attention/scale": "attention/steps",
  "embeddings/sums": "embeddings/similarity",
  "history/wavenet": "history/mlp",
  "language/lemmas": "language/stems",
  "language/names": "language/tags",
  "tokenization/vocabulary": "tokenization/compare",
  "tokenization/bytes": "tokenization/compare",
  "tokenization/wordpiece": "tokenization/merge",
  "training/race": "training/curves",
  "training/windows": "training/loss",
  "transformer/norms": "transformer/residuals",
  "sampling/compare": "sampling/writing",
  "transformer/published": "transformer/count",
  "efficiency/guess": "efficiency/speculative",
  "errors/heart": "errors/memorization",
  "errors/sure": "errors/calibration",
  "reasoning/bandit": "reasoning/reinforce",
  "reasoning/distil": "reasoning/distillation",
  "reasoning/gamed": "reasoning/reward_hacking",
  "reasoning/lookup": "reasoning/retrieval",
  "reasoning/think": "reasoning/chain_of_thought",
  "reasoning/tries": "reasoning/best_of_n",
};

// What is kept: places such as "attention/steps", and by place each answered question with whether
// the last answer was right. What is of another version, or was written by hand, counts as nothing.
export function progress() {
  try {
    const text = localStorage.getItem(NAME) ?? "";
    const kept = text.length > LONGEST ? null : JSON.parse(text);
    return fits(kept) ? today(kept) : NOTHING;
  } catch {
    return NOTHING; // a browser that keeps nothing, or a text that is no JSON
  }
}

function today({ opened, answered }) {
  const known = {};
  for (const [place, answers] of Object.entries(answered)) {
    const now = MOVED[place] ?? place;
    known[now] = { ...known[now], ...answers };
  }
  return { opened: [...new Set(opened.map((place) => MOVED[place] ?? place))], answered: known };
}

function fits(kept) {
  return (
    kept?.version === VERSION &&
    Array.isArray(kept.opened) &&
    kept.opened.every((place) => typeof place === "string") &&
    isTable(kept.answered) &&
    Object.values(kept.answered).every((one) => isTable(one) && Object.values(one).every((right) => typeof right === "boolean"))
  );
}

function isTable(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function noteOpened(place) {
  const { opened, answered } = progress();
  if (!opened.includes(place)) keep({ opened: [...opened, place], answered });
}

export function noteAnswer(place, question, right) {
  const { opened, answered } = progress();
  if (answered[place]?.[question] === right) return;
  keep({ opened, answered: { ...answered, [place]: { ...answered[place], [question]: right } } });
}

export function keep(known) {
  try {
    localStorage.setItem(NAME, JSON.stringify({ version: VERSION, ...known }));
  } catch {
    return; // all works, nothing is remembered
  }
  window.dispatchEvent(new Event(CHANGED));
}

// Tell a view whenever what is kept changes, here or in another window; returns how to end that.
export function follows(changed) {
  window.addEventListener(CHANGED, changed);
  window.addEventListener("storage", changed);
  return () => {
    window.removeEventListener(CHANGED, changed);
    window.removeEventListener("storage", changed);
  };
}
