"""All that the chapter "Compare" says. Names in braces are filled in with live numbers."""

COMPARE_TITLE = "The same text, cut differently"
COMPARE_TEXT = (
    "Each row is one tokenizer. Its boxes are under the characters that they cover. Point at any "
    "box: the same characters light up in every row. With longer boxes, a model has fewer tokens "
    "to read. But each different box needs its own line in the vocabulary."
)
COMPARE_CHOOSE = "Tokenizers"
COMPARE_NONE = "Choose at least one tokenizer."
COMPARE_NOTE = "{tokens} · {ratio:.2f} characters per token · vocabulary {vocabulary:,}"
UNITS_TITLE = "Whole words, single characters, and what is between them"
UNITS_TEXT = (
    "Try words that belong together. The word tokenizer here has learned the bundled *Word forms*. "
    "To this tokenizer, two forms of a word are two numbers that have nothing to do with each "
    "other. A word that is [[out of vocabulary]] becomes `<|unk|>`. A character tokenizer has one "
    "token for each character that it knows. Any other character becomes `<|unk|>`. "
    "[[sub-word|Sub-words]] are between the two."
)
UNITS_WORDS = "Words"
UNITS_DEFAULT = "boy boys dinosaur"
UNITS_KNOWN = "The word tokenizer knows {known}. An id says nothing about what two words share."
UNITS_UNKNOWN = (
    "The word tokenizer has no token for {unknown}. Each becomes `<|unk|>`, and nothing tells any "
    "more which word it was."
)
UNITS_LENGTH = "{longest} is {char} as characters, {word} as a word and {bpe} as BPE."
ASK_SCRIPT = (
    "Some tokenizers can give {text} back exactly. Which of them needs the fewest tokens for it?"
)
ASK_SCRIPT_RIGHT = "{name} needs {tokens}."
ASK_SCRIPT_WRONG = "{name} needs {tokens}. Another tokenizer that gives the text back needs fewer."
ASK_SCRIPT_LOST = "{name} makes {tokens}, but decoding them does not give this text back."
ASK_SCRIPT_TEXT = "안녕하세요"
