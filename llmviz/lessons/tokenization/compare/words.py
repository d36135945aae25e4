"""All that the chapter "Compare" says. Names in braces are filled in with live numbers."""

COMPARE_TITLE = "The same text, cut differently"
COMPARE_TEXT = (
    "Each row is one tokenizer, and its boxes stand under the characters that they cover. Point "
    "at any box: the same characters light up in every row. The longer the boxes, the fewer tokens "
    "a model has to work through. But each different box needs its own line in the vocabulary."
)
COMPARE_CHOOSE = "Tokenizers"
COMPARE_NONE = "Choose at least one tokenizer."
COMPARE_NOTE = "{tokens} · {ratio:.2f} characters per token · vocabulary {vocabulary:,}"
UNITS_TITLE = "Whole words, single characters, and between"
UNITS_TEXT = (
    "Try words that belong together. The word tokenizer here has learned the bundled *Word forms*. "
    "To it, two forms of one word are two numbers with nothing in common. A word that is "
    "[[out of vocabulary]] becomes `<|unk|>`. A character tokenizer can write every word whose "
    "characters it knows, with one token for each character; any other character becomes "
    "`<|unk|>`. [[sub-word|Sub-words]] stand between the two."
)
UNITS_WORDS = "Words"
UNITS_DEFAULT = "boy boys dinosaur"
UNITS_KNOWN = "The word tokenizer knows {known}. An id says nothing about what two words share."
UNITS_UNKNOWN = (
    "The word tokenizer has no token for {unknown}: each becomes `<|unk|>`, and which word it was "
    "is lost."
)
UNITS_LENGTH = "{longest} is {char} as characters, {word} as a word and {bpe} as BPE."
ASK_SCRIPT = (
    "Of the tokenizers that can give {text} back exactly, which one needs the fewest tokens for it?"
)
ASK_SCRIPT_RIGHT = "{name} needs {tokens}."
ASK_SCRIPT_WRONG = "{name} needs {tokens}; another one that gives the text back needs fewer."
ASK_SCRIPT_LOST = "{name} makes {tokens}, but decoding them does not give this text back."
ASK_SCRIPT_TEXT = "안녕하세요"
