"""All that the chapter "Hidden words" says. Names in braces are filled in with live numbers."""

TITLE = "Hide a word, and read both sides"
TEXT = (
    "Not every transformer writes texts. BERT (2018) has only an [[encoder]]. It is a "
    "[[masked-word model]]: one word is replaced by a mask, and the model predicts this word from "
    "**both sides**. A [[decoder]] such as GPT predicts the next word from the **left alone**. "
    "Both models here learned from the same stories, with the same words. Click a word to hide it."
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
BARS_TITLE = "What do the models predict in place of {word}?"
BARS_AXIS = "probability"
READ = (
    "{word} is hidden. From both sides, the first model says {both}, with {both_share}. From the "
    "left alone, the second says {left}, with {left_share}. They give the hidden word itself "
    "{own_both} and {own_left}."
)
READ_UNKNOWN = (
    "{word} is hidden. The models do not know this word, so neither can name it. From both sides, "
    "the first model says {both}, with {both_share}. From the left alone, the second says {left}, "
    "with {left_share}."
)
RIGHT_OF = "After it comes {right}, which only the first model can use."
LAST = (
    "It is the last word that is read. So here the first model reads no more words than the second."
)
ASK = (
    "The text has {tokens} tokens, including the start token. Each model must predict token "
    "{place}, {word}. How many tokens can it read for this, without the mask?"
)
ASK_ANSWER = "both sides: {both}, left alone: {left}"
ASK_RIGHT = (
    "The encoder reads all tokens except the hidden one: {both}. The decoder reads the tokens "
    "before it: {left}."
)
ASK_SAME = "Then the decoder would have to see later tokens, which its mask forbids."
ASK_LEFT = "The encoder has no such mask: it reads what follows the word, too."
ASK_OWN = (
    "Then both would read the word itself. But it is hidden from the encoder, and the decoder sees "
    "only the tokens before it."
)

ATTENTION_TITLE = "All to all, and a triangle"
ATTENTION_TEXT = (
    "Each row is a token that asks: it looks at others. Each column is a token that is asked. In "
    "the encoder every cell can have a weight above 0: **all to all**. In the decoder all weights "
    "above the diagonal are 0: a **triangle**. Click a head to see its lines."
)
BOTH_HEADS = "Encoder, with {word} hidden: {layers} of {heads}"
LEFT_HEADS = "Decoder: {layers} of {heads}"
ABOVE = (
    "Over all heads, {both} of the encoder's weight lies above the diagonal, on later tokens. In "
    "the decoder it is {left}, for any text."
)
MASK = "⟨mask⟩"

SCORE_TITLE = "On stories that neither model has read"
SCORE = (
    "{tokens:,} words of held-out stories were hidden, each alone. The encoder gets **{both}** of "
    "them right. The decoder, from the left alone, gets **{left}** of the same words right. Their "
    "losses are {both_nats:.3f} and {left_nats:.3f} nats per word. They differ in size, too: "
    "{both_size:,} parameters in {both_layers} layers, and {left_size:,} in {left_layers}."
)
SCORE_AXIS = "share of the hidden words that is right"
SCORE_ONE = (
    "{tokens:,} words of held-out stories were hidden, each alone. It gets **{both}** of them "
    "right."
)
NOT_WRITE = (
    "Why then do chat models read the left alone? A decoder learns from every token of a text. And "
    "what it has computed for earlier tokens stays the same as the text grows, so it can write. In "
    "an encoder each new word can change the vectors of all earlier words. Encoders are used for "
    "reading: to search, to sort texts, to find names."
)
MISTAKE = (
    "**Spot the mistake.** A report says: “The encoder gets {both} of the words right, the decoder "
    "{left}. So the encoder is better at writing a story word by word.” What is wrong?"
)
MISTAKE_ANSWERS = (
    "Nothing: the model with more words right also writes better.",
    "The two shares are of different words and cannot be compared.",
    "The encoder also read the words on the right, which do not exist yet in writing.",
    "The decoder should have been allowed to see the hidden word.",
)
MISTAKE_REASONS = (
    "It gets {both} with the text on both sides. In writing, the right side is empty.",
    "Both were asked for the same {tokens:,} words of the same stories.",
    "In writing, the text ends where the next word must come. With the same stories cut off after "
    "the mask, the encoder gets {ended} right. The decoder gets {left}, as before.",
    "Then there would be nothing to predict.",
)
