"""All that the chapter "Learn" says. Names in braces are filled in with live numbers."""

LEARN_TITLE = "How a tokenizer learns where to cut"
LEARN_TEXT = (
    "[[BPE]] starts from the 256 [[byte|bytes]], counts every pair of neighbours in the "
    "[[corpus]], and makes the most frequent pair a new token: a [[merge]]. Then it counts again. "
    "Press play, drag the slider, or use the arrow keys, and watch the pieces of your text grow "
    "together."
)
LEARN_CORPUS = "Corpus"
CORPORA = {
    "tiny-world-sample": "Stories (1 MB)",
    "word-forms": "Word forms",
    "story": "One story",
    "names": "Names",
    "text": "Your text",
    "own": "Your own corpus",
}
LEARN_SIZE = "Vocabulary size"
OWN_LABEL = "Paste a text to learn from"
OWN_UPLOAD = "or load a text file (UTF-8, up to {limit})"
OWN_CUT = "The corpus has {all:,} characters; training uses the first {limit:,}."
STOPPED_EARLY = (
    "Training stopped after {merges}: every piece of this corpus is one token by then, so there "
    "is no pair left to merge. The vocabulary has {vocabulary:,} tokens instead of {size:,}."
)
NO_MERGES = (
    "This corpus has no two neighbours to merge, so the vocabulary is the {vocabulary} bytes and "
    "special tokens."
)
LEARN_CURVE = (
    "After {step} of {all} the corpus of {bytes:,} bytes is {tokens:,} tokens long: "
    "**{ratio:.2f} bytes per token**."
)
SUBWORDS_TITLE = "What the merges know by now"
SUBWORDS_TEXT = (
    "Words that are frequent in the corpus have become one token. Rare words still fall into "
    "pieces ([[sub-word|sub-words]]). The rows below follow the film."
)
SUBWORDS_WORDS = "Words to follow"
SUBWORDS_DEFAULT = "the morning token tokens tokenization modernization"
SUBWORDS_NOTE = "{pieces} · {times} in the corpus"
STEMS_TITLE = "When do the pieces become stems and endings?"
STEMS_TEXT = (
    "BPE knows nothing of grammar, it only counts. A stem becomes a token if it stands often, and "
    "with different endings; an ending becomes a token if many words have it. In the bundled "
    "corpus *Word forms* this is so. Move the slider: first the letters join, then stems and "
    "endings are whole, and at last the whole words."
)
STEMS_MERGES = "Merges learned from the word forms"
STEMS_WORDS = "token tokens tokenization modernization unhappiness boy boys"
ASK_SAVING = (
    "The first {half:,} merges shortened the corpus from {start:,} tokens to {middle:,}. How much "
    "will the next {half:,} merges take away?"
)
ASK_SAVING_ANSWERS = (
    "Over 10 % more than the first {half:,}",
    "About as much: at most 10 % more or less",
    "Over 10 % less than the first {half:,}",
)
ASK_SAVING_REASON = (
    "The first {half:,} merges took away {first:,} tokens, the next {half:,} took {second:,}. The "
    "most frequent pair is merged first, so no later merge joins a pair that is counted more often."
)
