"""All that the chapter "WordPiece" says. Names in braces are filled in with live numbers."""

TITLE = "Another rule: WordPiece"
TEXT = (
    "[[WordPiece]] is the tokenizer of BERT. Like [[BPE]] it joins pairs, but it does not take the "
    "most frequent pair. It takes the pair with the highest **score = count(pair) / (count(first) "
    "× count(second))**: two pieces that rarely stand without each other. It starts from "
    "characters, not from [[byte|bytes]], and a piece inside a word is written with `##` in front."
)
LEARNED = "Learned from"
CORPORA = {"word-forms": "Word forms", "text": "Your text"}
JOINS = "Merges"
FORMS = "Words to cut"
FORMS_DEFAULT = "boy boys token tokens tokenization unhappiness"
NOTE = "{tokens} · vocabulary {vocabulary:,}"
ROWS = ("WordPiece", "BPE")
COUNTS = (
    "Both have learned from the same corpus: WordPiece {pieces}, BPE {merges}. (BPE keeps the "
    "space before a word in the token; WordPiece has no spaces.)"
)
UNKNOWN = (
    "WordPiece cannot cut {unknown} into pieces that it knows: each becomes `[UNK]` as a whole."
)
LAST = "Its last merges, with their scores:"
COLUMNS = ("step", "pair", "becomes", "count", "count of the parts", "score")

MATCH_TITLE = "Cutting a word: the longest piece first"
MATCH_TEXT = (
    "To cut a word, WordPiece does not repeat its merges. It takes the longest piece of its "
    "vocabulary that the word begins with, then the longest `##` piece that fits what is left, and "
    "so on. If nothing fits at some place, the whole word becomes `[UNK]`."
)
MATCH_STEP = "From {rest} the longest known piece is {piece}."
MATCH_NONE = "For {rest} there is no known piece, so the whole word {word} becomes `[UNK]`."

MARKS_TITLE = "CLS, SEP and PAD: how BERT reads two texts"
MARKS_TEXT = (
    "BERT reads one or two texts at once. `[CLS]` stands first: after the last layer, its vector "
    "is used as the summary of all that was read, for example to sort texts into classes. `[SEP]` "
    "stands at the end of each text and so separates two of them. `[PAD]` fills the row up to the "
    "length of its batch ([[padding]]). BERT needs no [[start token]] for writing, because it does "
    "not write."
)
MARKS_FIRST = "Which words are these?"
MARKS_LENGTH = 24

ASK_NEXT = (
    "After {done} merges, two pairs stand out. {rare}: {rare_count}, its parts {rare_parts} times. "
    "{frequent}: {frequent_count}, its parts {frequent_parts} times. Which one does WordPiece join "
    "next?"
)
ASK_NEXT_RIGHT = (
    "{count:,} / ({first:,} × {second:,}) = {score:.2e}. No pair has a higher score at this moment."
)
ASK_NEXT_WRONG = (
    "No pair stands more often ({count:,} times), so BPE's rule would take this one. But its score "
    "is {count:,} / ({first:,} × {second:,}) = {score:.2e}, less than that of the other pair."
)
