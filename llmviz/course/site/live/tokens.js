// Text to token ids and back, as llmviz/tokenizers does it: characters, and BPE on bytes.

const OTHER = "\\p{White_Space}\\p{L}\\p{N}";
// GPT-2's first cut of a text; no merge crosses it. Letters are those of the browser's Unicode.
export const PIECES = new RegExp(
  `'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^${OTHER}]+|\\p{White_Space}+(?!\\P{White_Space})|\\p{White_Space}+`,
  "gu",
);

// What a word is made of; it may hold apostrophes. Every other mark is a token of its own.
const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const WORDS = new RegExp(`[${WORD}]+(?:['’][${WORD}]+)*|[^${WORD}\\p{White_Space}]|\\n`, "gu");

export const words = (text) => text.match(WORDS) ?? [];

export const bytesOf = (text) => new TextEncoder().encode(text);

// Whether bytes are whole characters.
export function isWhole(bytes) {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

export class Characters {
  constructor({ vocabulary, end, unknown }) {
    this.ids = new Map(vocabulary.map((text, id) => [text, id]));
    this.vocabulary = vocabulary;
    this.end = end;
    this.unknown = unknown;
  }

  encode(text) {
    return [...text].map((one) => this.ids.get(one) ?? this.unknown);
  }

  bytes(id) {
    return bytesOf(this.vocabulary[id] ?? "�");
  }
}

export class BytePairs {
  // merges: the two ids of each, in the order in which they were learned; merge r makes id 256 + r.
  constructor({ merges, end }) {
    this.end = end;
    this.ranks = new Map();
    this.made = []; // the id that each merge makes
    this.known = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
    for (const [a, b] of merges) {
      this.learned(a, b, this.known.length);
      this.known.push(Uint8Array.from([...this.known[a], ...this.known[b]]));
    }
  }

  learned(a, b, id) {
    this.ranks.set(keyOf(a, b), this.made.length);
    this.made.push(id);
  }

  encode(text) {
    return (text.match(PIECES) ?? []).flatMap((piece) => this.merged([...bytesOf(piece)]));
  }

  // Again and again, the pair that was learned first becomes one token, at all its places.
  merged(ids) {
    while (ids.length > 1) {
      let first = Infinity;
      for (let i = 0; i + 1 < ids.length; i++) first = Math.min(first, this.ranks.get(keyOf(ids[i], ids[i + 1])) ?? Infinity);
      if (first === Infinity) break;
      const next = [];
      for (let i = 0; i < ids.length; i++) {
        const joins = i + 1 < ids.length && this.ranks.get(keyOf(ids[i], ids[i + 1])) === first;
        next.push(joins ? this.made[first] : ids[i]);
        if (joins) i++;
      }
      ids = next;
    }
    return ids;
  }

  bytes(id) {
    return this.known[id] ?? new Uint8Array();
  }

  decode(ids) {
    return new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => [...this.bytes(id)])));
  }
}

const keyOf = (a, b) => a * 65536 + b;
