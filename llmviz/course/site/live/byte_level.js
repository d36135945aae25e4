// BPE on bytes with the ids of its publisher, both ways: llmviz/tokenizers/gguf_tokenizer.py says how.

import { BytePairs, isWhole, PIECES } from "./tokens.js";

const RUNS = /\p{N}|[^\p{N}]+/gu; // digits one by one, and what is between them

// GPT-2's printable alphabet: what is visible in Latin-1 stands for itself, all other bytes are
// numbered from U+0100 on.
function alphabet() {
  const inked = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  let spare = 0x100;
  return new Map(Array.from({ length: 256 }, (_, byte) => [String.fromCharCode(inked(byte) ? byte : spare++), byte]));
}

// How a character is shown that leaves no ink, as components/token_strip/view.py does it.
const SIGNS = { " ": "·", "\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽" };
const INKLESS = /[\p{C}\p{Z}]|\p{Variation_Selector}/u;

function visible(sign, i, signs) {
  if (SIGNS[sign]) return SIGNS[sign];
  const code = sign.codePointAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (/\p{Mn}/u.test(sign)) return /[\p{L}\p{M}]/u.test(signs[i - 1] ?? "") ? sign : `◌${sign}`;
  return INKLESS.test(sign) ? `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩` : sign;
}

export class ByteLevel extends BytePairs {
  // tokens: their texts in that alphabet. merges: two of them with a space between, in the order in
  // which they were learned. digits: whether each is cut off first. special: ids no text can have.
  constructor({ tokens, merges, digits, special, ends }) {
    super({ merges: [], end: ends[0] });
    const byteOf = alphabet();
    const ids = new Map(tokens.map((text, id) => [text, id]));
    this.special = new Map(special.map((id) => [id, tokens[id]]));
    this.ends = ends;
    this.digits = digits;
    this.known = tokens.map((text, id) =>
      this.special.has(id) ? new TextEncoder().encode(text) : Uint8Array.from(text, (sign) => byteOf.get(sign)),
    );
    this.first = new Map([...byteOf].map(([sign, byte]) => [byte, ids.get(sign)]));
    for (const merge of merges) {
      const [a, b] = merge.split(" ");
      this.learned(ids.get(a), ids.get(b), ids.get(a + b));
    }
  }

  encode(text) {
    const runs = this.digits ? (text.match(RUNS) ?? []) : [text];
    return runs.flatMap((run) => (run.match(PIECES) ?? []).flatMap((piece) => this.ofPiece(piece)));
  }

  ofPiece(piece) {
    const ids = Array.from(new TextEncoder().encode(piece), (byte) => this.first.get(byte));
    return this.merged(ids);
  }

  // How a token is shown: bytes that are no whole character stand as such.
  nameOf(id) {
    if (this.special.has(id)) return this.special.get(id);
    const bytes = this.bytes(id);
    if (!isWhole(bytes)) return Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    return [...text].map(visible).join("");
  }
}
