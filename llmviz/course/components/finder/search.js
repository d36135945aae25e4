// Which chapters and terms a search finds, the best first. Runs in Node, too, where it is tested.

const SHOWN = 12;

// Words of a whole question that every text could have.
const SMALL = new Set(
  "a an and are can do does for how i in is it its me my of on or the to what when where which why with work works you your".split(" "),
);
// What a form of a word has behind its stem, the longest first.
const ENDING = /(izations?|isations?|izing|ising|ations?|ings?|ions?|ers?|ize|ise|ed|es|e|s)$/;
const LEAST = 4; // letters of a stem

function plain(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

// What every form of a word begins with: "hallucinations" is found by "hallucination".
function stem(word) {
  const short = word.replace(ENDING, "");
  return short.length >= LEAST ? short : word;
}

// The stems that are looked for; of a question, those that mean something.
function stems(wanted) {
  const words = plain(wanted)
    .split(/[^\p{L}\p{N}+#.-]+/u)
    .filter(Boolean);
  const telling = words.filter((word) => !SMALL.has(word));
  return (telling.length ? telling : words).map(stem);
}

// How well a text holds all wanted words: 0 not at all, more where it begins with them.
function worth(text, words) {
  const known = plain(text);
  if (!words.every((word) => known.includes(word))) return 0;
  if (stems(known).join(" ") === words.join(" ")) return 4;
  if (known.startsWith(words[0])) return 3;
  return words.every((word) => new RegExp(`(^|[^\\p{L}\\p{N}])${escaped(word)}`, "u").test(known)) ? 2 : 1;
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

// data: chapters with `place, title, lesson, question, more`, terms with `name, text, also`, all in the
// course's order. Nothing wanted finds all chapters.
export function hits(data, wanted) {
  const words = stems(wanted);
  const chapters = data.chapters.map((one) => ({
    place: one.place,
    link: `${one.place.replace("/", "?part=")}`,
    title: one.title,
    where: one.lesson,
    text: one.question,
    worth:
      words.length === 0
        ? 1
        : Math.max(
            8 * worth(one.title, words),
            4 * worth(one.question, words),
            3 * worth(`${one.lesson} ${one.title}`, words),
            ...one.more.map((text) => 2 * worth(text, words)),
          ),
  }));
  if (words.length === 0) return chapters;
  const terms = data.terms.map(({ name, text, also = "" }) => ({
    place: `glossary/${name}`,
    link: `glossary?find=${encodeURIComponent(name)}`,
    title: name,
    where: data.words.glossary,
    text,
    worth: Math.max(7 * worth(name, words), 5 * worth(also, words), worth(text, words)),
  }));
  return [...chapters, ...terms]
    .filter((one) => one.worth > 0)
    .sort((a, b) => b.worth - a.worth)
    .slice(0, SHOWN);
}
