"""All that the chapter "Words hidden" says. Names in braces are filled in with live numbers."""

TITLE = "Hide a word, and read both sides"
TEXT = (
    "Not every transformer writes. BERT (2018) is an [[encoder]] alone: a [[masked-word model]]. "
    "One word is replaced by a mask, and the model says which word stood there, from **both "
    "sides**. A [[decoder]] such as GPT says the next word from the **left alone**. Both models "
    "here learned from the same stories, with the same words. Click a word to hide it."
)
NO_WORD = "There is no word in this text yet. Type one above, or take one of the examples."
ROWS = ("from both sides", "from the left alone")
VALUE = "probability of the word that stands there"
UNKNOWN_DETAIL = "not among the {count:,} words that the models know"
DETAIL = "probability"
STRIP_NOTE = (
    "Each word was hidden once, alone; its colour is the probability that the model gave it. The "
    "framed word is the one that is hidden below."
)
BARS_TITLE = "What stands in the place of {word}?"
BARS_AXIS = "probability"
READ = (
    "{word} is hidden. From both sides the model says {both}, with {both_share}; from the left "
    "alone the other says {left}, with {left_share}. The word itself gets {own_both} and "
    "{own_left}."
)
READ_UNKNOWN = (
    "{word} is hidden. The models do not know this word, so neither can name it. From both sides "
    "the model says {both}, with {both_share}; from the left alone the other says {left}, with "
    "{left_share}."
)
RIGHT_OF = "Behind it stands {right}, which only the first model can use."
LAST = (
    "It is the last word that is read. Here the first model has no more words to go by than the "
    "other."
)
ASK = (
    "The text has {tokens} tokens, the start among them. Token {place}, {word}, is to be told. How "
    "many tokens does each model have to go by, the mask not counted?"
)
ASK_ANSWER = "both sides: {both}, left alone: {left}"
ASK_RIGHT = (
    "The encoder reads all tokens but the hidden one, {both}. The decoder reads those before it, "
    "{left}."
)
ASK_SAME = "The decoder would have to see ahead, which its mask forbids."
ASK_LEFT = "The encoder has no such mask: it reads what follows the word, too."
ASK_OWN = (
    "Then the word itself would be read. It is hidden from the one and not yet there for the other."
)

ATTENTION_TITLE = "All to all, against the triangle"
ATTENTION_TEXT = (
    "Each row is a token that asks, each column one that is asked. In the encoder every cell can "
    "hold weight: **all to all**. In the decoder everything above the diagonal is 0: a "
    "**triangle**. Click a head to see its lines."
)
BOTH_HEADS = "Encoder, with {word} hidden: {layers} of {heads}"
LEFT_HEADS = "Decoder: {layers} of {heads}"
ABOVE = (
    "Over all heads, {both} of the encoder's weight lies above the diagonal, on tokens further to "
    "the right. In the decoder it is {left}, for any text."
)
MASK = "⟨mask⟩"

SCORE_TITLE = "On stories that neither has read"
SCORE = (
    "Of {tokens:,} words of held-out stories, each hidden alone, the encoder gets **{both}** "
    "right, and the decoder, from the left alone, **{left}** of the same words. In nats per word: "
    "{both_nats:.3f} and {left_nats:.3f}. They differ in size, too: {both_size:,} parameters in "
    "{both_layers} layers, and {left_size:,} in {left_layers}."
)
SCORE_AXIS = "share of the hidden words that is right"
SCORE_ONE = "Of {tokens:,} words of held-out stories, each hidden alone, it gets **{both}** right."
NOT_WRITE = (
    "Why then do the models that people talk to read the left alone? A decoder learns from every "
    "token of a text, and what it has computed of the past stays true as the text grows, so that "
    "it can write. In the encoder each new word can change all vectors before it. It is for "
    "reading: search, sorting, finding names."
)
MISTAKE = (
    "**Spot the mistake.** A note says: “The encoder gets {both} of the words right and the "
    "decoder {left}, so the encoder would be the better one to write a story word by word.” What "
    "is wrong?"
)
MISTAKE_ANSWERS = (
    "Nothing: the model with more words right also writes better.",
    "The two shares are of different words and cannot be compared.",
    "The encoder was helped by the words on the right, which are not there when one writes.",
    "The decoder should have been allowed to see the hidden word.",
)
MISTAKE_REASONS = (
    "{both} is what it gets with the text on both sides. When one writes, the right side is empty.",
    "Both were asked for the same {tokens:,} words of the same stories.",
    "When one writes, the text ends where the next word is to come. With the same stories cut off "
    "behind the mask, the encoder gets {ended} right, and the decoder, as before, {left}.",
    "Then there would be nothing to tell.",
)
