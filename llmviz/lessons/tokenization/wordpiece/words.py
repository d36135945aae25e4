"""All that the chapter "WordPiece" says. Names in braces are filled in with live numbers."""

TITLE = "Another rule: WordPiece"
TEXT = (
    "[[WordPiece]] is the tokenizer of BERT. Like [[BPE]] it joins pairs, but it does not take the "
    "most frequent pair. It takes the pair with the highest **score = count(pair) / (count(first) "
    "× count(second))**. So a pair can win although it is rare, if its two parts are rare as well. "
    "This is the rule as it is usually described: the program that made BERT's vocabulary was not "
    "published. WordPiece starts from characters, not from [[byte|bytes]]. A piece inside a word "
    "is written with `##` in front."
)
LEARNED = "Learned from"
CORPORA = {"word-forms": "Word forms", "text": "Your text"}
JOINS = "Merges"
FORMS = "Words to cut"
FORMS_DEFAULT = "boy boys token tokens tokenization unhappiness"
NOTE = "{tokens} · vocabulary {vocabulary:,}"
ROWS = ("WordPiece", "BPE")
COUNTS = (
    "Both have learned from the same corpus: WordPiece has made {pieces}, BPE {merges}. (BPE keeps "
    "the space before a word in the token; WordPiece has no spaces.)"
)
UNKNOWN = (
    "WordPiece cannot cut {unknown} into pieces that it knows: each becomes `[UNK]` as a whole."
)
LAST = "Its last merges, with their scores:"
COLUMNS = ("step", "pair", "becomes", "count", "count of the parts", "score")

MATCH_TITLE = "Cutting a word: the longest piece first"
MATCH_TEXT = (
    "To cut a word, WordPiece does not repeat its merges. It takes the longest piece of its "
    "vocabulary that the word begins with. Then it takes the longest `##` piece that the rest "
    "begins with, and so on. If no piece fits at some place, the whole word becomes `[UNK]`."
)
MATCH_STEP = "The longest known piece at the beginning of {rest} is {piece}."
MATCH_NONE = "{rest} begins with no known piece, so the whole word {word} becomes `[UNK]`."

MARKS_TITLE = "CLS, SEP and PAD: how BERT reads two texts"
MARKS_TEXT = (
    "BERT reads one or two texts at once. `[CLS]` comes first. After the last layer, its vector is "
    "used as a summary of the whole input, for example to sort texts into classes. `[SEP]` is at "
    "the end of each text and so separates the two. `[PAD]` fills the row up to the length of its "
    "batch ([[padding]]). BERT was not made to write, so it needs no [[start token]]."
)
MARKS_FIRST = "Which words are these?"
MARKS_LENGTH = 24

ASK_NEXT = (
    "Look at two pairs after {done} merges. {rare} occurs {rare_count}, and its parts {rare_parts} "
    "times. {frequent} occurs {frequent_count}, and its parts {frequent_parts} times. Which pair "
    "does WordPiece join next?"
)
ASK_NEXT_RIGHT = (
    "{count:,} / ({first:,} × {second:,}) = {score:.2e}. No pair has a higher score at this moment."
)
ASK_NEXT_WRONG = (
    "No pair occurs more often, and BPE would look at this number. But the score of the pair is "
    "{count:,} / ({first:,} × {second:,}) = {score:.2e}. The score of the other pair is higher."
)
