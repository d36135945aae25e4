"""What the box for the sentence says, and the sentences to start from."""

DEFAULT = "Then Anna saw an old saw. She leaves the village on Monday."
LABEL = "Your sentence, or a few"
EXAMPLES = {
    "Two words twice": DEFAULT,
    "By and by": "By and by Edwin walked by the river. There was a long story about it.",
    "Names": "Edwin Ravenworth gave the small red ball to Anna in Lisbon on Friday.",
    "Out of this world": "Barack Obama flew to Chicago and felt a soft felt hat.",
}
EMPTY = "There is no sentence yet. Type one above, or take one of the examples."
NO_WORD = "There is no word in this text, only white space. Type a sentence above."
TOO_LONG = "Your text has {all:,} characters. This chapter reads the first {limit:,} of them."
TAG_NAMES = {
    "ADJ": "adjective",
    "ADP": "preposition",
    "ADV": "adverb",
    "AUX": "auxiliary verb",
    "CCONJ": "conjunction",
    "DET": "determiner",
    "NOUN": "noun",
    "NUM": "number",
    "PRON": "pronoun",
    "PROPN": "name",
    "PUNCT": "punctuation",
    "VERB": "verb",
}
