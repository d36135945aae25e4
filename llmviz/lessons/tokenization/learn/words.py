"""All that the chapter "Learn" says. Names in braces are filled in with live numbers."""

LEARN_TITLE = "How a tokenizer learns where to cut"
LEARN_TEXT = (
    "[[BPE]] starts from the 256 [[byte|bytes]]. In the [[corpus]] it counts every pair of "
    "neighbours inside a [[pre-token]], which is roughly a word. The most frequent pair becomes a "
    "new token. This is called a [[merge]]. Then BPE counts again, and so on. Press play, drag the "
    "slider, or use the arrow keys, and watch how the pieces of your text are joined."
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
    "Training stopped after {merges}. Now every [[pre-token]] of this corpus is one token, and no "
    "pair is left to merge. The vocabulary has {vocabulary:,} tokens instead of {size:,}."
)
NO_MERGES = (
    "In this corpus there are no two neighbours to merge. So the vocabulary is the {vocabulary} "
    "bytes and special tokens."
)
NO_ROOM = (
    "A vocabulary of {vocabulary} only has room for the bytes and the special tokens. Choose a "
    "larger size to see merges."
)
LEARN_CURVE = (
    "After {step} of {all}, the corpus of {bytes:,} bytes is {tokens:,} tokens long: "
    "**{ratio:.2f} bytes per token**."
)
SUBWORDS_TITLE = "Your words after the merges so far"
SUBWORDS_TEXT = (
    "As a rule, a word that is frequent in the corpus becomes one token early. A rare word stays "
    "in pieces ([[sub-word|sub-words]]) for longer. The rows below show each word at the step that "
    "you see above."
)
SUBWORDS_WORDS = "Words to follow"
SUBWORDS_DEFAULT = "the morning token tokens tokenization modernization"
SUBWORDS_NOTE = "{pieces} · {times} in the corpus"
STEMS_TITLE = "When do the pieces become stems and endings?"
STEMS_TEXT = (
    "BPE knows nothing about grammar. It only counts. A stem that occurs often, with different "
    "endings, can become a token. So can an ending that many words have. This happens in the "
    "bundled corpus *Word forms*. Move the slider: first, letters are joined. Later, stems and "
    "endings are whole, and at the end whole words."
)
STEMS_MERGES = "Merges learned from the word forms"
STEMS_WORDS = "token tokens tokenization modernization unhappiness boy boys"
ASK_SAVING = (
    "The first {half:,} merges shortened the corpus from {start:,} tokens to {middle:,}. By how "
    "many tokens will the next {half:,} merges shorten it?"
)
ASK_SAVING_ANSWERS = (
    "Over 10 % more than the first {half:,}",
    "About as much: at most 10 % more or less",
    "Over 10 % less than the first {half:,}",
)
ASK_SAVING_REASON = (
    "The first {half:,} merges shortened the corpus by {first:,} tokens, the next {half:,} by "
    "{second:,}. The most frequent pair is always merged first. So no later merge joins a pair "
    "that is counted more often."
)
