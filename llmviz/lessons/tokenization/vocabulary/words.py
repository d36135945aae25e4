"""All that the chapter "Words" says. Names in braces are filled in with live numbers."""

TITLE = "A vocabulary from your own text"
TEXT = (
    "The simplest way to get tokens is this. Cut the text into words and punctuation marks, sort "
    "the different ones, and number them. The list is the [[vocabulary]]. The place of each in the "
    "list is its [[token id]]. Three [[special token|special tokens]] get the last ids."
)
COUNTS = (
    "Your text has {tokens}. The number of different ones is {different}. With {special}, the "
    "vocabulary has **{size}**."
)
COLUMNS = {"id": "id", "text": "token", "count": "in your text"}

USE_TITLE = "From words to ids, and back"
USE_TEXT = (
    "Now use the list on another sentence. A word that is not in your text is "
    "[[out of vocabulary]]. It has no id of its own, so it gets the id of `<|unk|>`."
)
SENTENCE = "Another sentence"
SENTENCE_DEFAULT = "The kitten sat on the moon."
IDS = "As ids: `{ids}`."
UNKNOWN = "Not in the vocabulary: {unknown}. The ids do not tell which words these were."
BACK = "Decoded, the ids give: {back}."
BACK_SAME = "The ids give the sentence back exactly."
EMPTY = "Type a sentence to see its ids."

BATCH_TITLE = "Start token, end of text, padding"
BATCH_TEXT = (
    "A model that writes predicts each token from the tokens before it. For the first token, it "
    "needs something to start from: a [[start token]]. Here `<|endoftext|>` does both jobs: it "
    "ends one text and so starts the next. Texts that go through a model together must be equally "
    "long. So short texts are filled up with `<|pad|>` ([[padding]]). Attention and loss leave "
    "these places out."
)
BATCH_CAPTION = "The beginnings of two texts as one batch of ids, {rows} × {columns}"

ASK_SIZE = (
    "Your text has {tokens} (words and marks). A word vocabulary is built from it, with {special}. "
    "How many lines does this vocabulary have?"
)
ASK_SIZE_RIGHT = "{different} different words and marks, and {special}: {size:,}."
ASK_SIZE_ALL = "A word that occurs several times in the text has only one line in the vocabulary."
ASK_SIZE_CASE = "This tokenizer keeps capitals: `The` and `the` have two lines."
ASK_SIZE_BARE = "The special tokens have lines of their own."
