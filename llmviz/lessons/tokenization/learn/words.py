"""All that the chapter "Learn" says. Names in braces are filled in with live numbers."""

LEARN_TITLE = "How a tokenizer learns where to cut"
LEARN_TEXT = (
    "[[BPE]] starts from the 256 [[byte|bytes]], counts every pair of neighbours in the "
    "[[corpus]], and makes the most frequent pair a new token: a [[merge]]. Then it counts again. "
    "Press play, drag the slider, or use the arrow keys, and watch your text being glued together."
)
LEARN_CORPUS = "Corpus"
CORPORA = {
    "tiny-world-sample": "Stories (1 MB)",
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
    "Frequent words have been glued together whole; rare ones still fall into pieces, and the "
    "pieces are often worth something: a stem, an ending. The rows below follow the film."
)
SUBWORDS_WORDS = "Words to follow"
SUBWORDS_DEFAULT = "the morning token tokens tokenization modernization"
SUBWORDS_NOTE = "{pieces} · {times} in the corpus"
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
