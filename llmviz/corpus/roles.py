"""The part of speech of each word of a tiny-world story, and which words name something.

The grammar knows why it wrote a word: `saw` out of its list of tools is a noun, `saw` in "Anna saw
a cow" is a verb. What it chose from a category has the category's tag; the other words are few,
and each has one tag.

Tags are those of Universal Dependencies. Names are marked in the BIO scheme: B- at the first word
of a name, I- at the words that go on with it, O elsewhere (Ramshaw and Marcus 1995).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import regex

from llmviz.corpus.story_productions import tell
from llmviz.corpus.words import CATEGORIES, words
from llmviz.corpus.writer import NotTinyWorldError, Options, Reader, Value

TAGS = ("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN", "NUM", "PRON", "PROPN", "PUNCT", "VERB")
ENTITIES = ("PERSON", "PLACE", "DAY", "THING")
OUTSIDE = "O"
ENTITY_TAGS = (OUTSIDE, *(f"{letter}-{kind}" for kind in ENTITIES for letter in "BI"))

# Marks, such as the vowel signs of Hindi, and joiners belong to their letter; an emoji is one sign.
_LETTERS = r"\w[\w\p{M}\u200c\u200d]*"
_WORD = regex.compile(rf"{_LETTERS}(?:['’-]{_LETTERS})*|(?!\s)\X")

_OF_CATEGORY = {
    "ADJ": "colours sizes qualities feelings states contraries materials",
    "ADV": "adverbs",
    "VERB": "motion acts sounds",
    "NUM": "numbers",
    "PROPN": "girls boys names surnames countries capitals days months",
}
_TAG_OF = {category: tag for tag, listed in _OF_CATEGORY.items() for category in listed.split()}

_FIXED = {
    "ADP": "about across after at behind beside beyond by for from in inside near of on "
    "over past to under with",
    "ADV": "ago along ever how later more never next now once so soon then there up where",
    "AUX": "is was were would should",
    "CCONJ": "and but",
    "DET": "a all an both every no some that the this",
    "NOUN": "bedtime capital day door end friend lunch morning noon sight song story while",
    "PRON": "he her his i it my nobody she they we what who them",
    "VERB": "ate became brought built called came dreamed felt forgot found gave goes had handed "
    "knew lent lived look made mended met passed picked planted played put rode said saw stayed "
    "studied threw thought told trust visit went woke",
    "ADJ": "best big proud",
    "NUM": "one",
}
_FIXED_TAG = {word: tag for tag, listed in _FIXED.items() for word in listed.split()}
# Words of the fixed phrases whose tag depends on the phrase: (the words around it, its place, tag).
_IN_PHRASE = (
    (("it", "was"), 0, "PRON"),
    (("that", "was", "the"), 0, "PRON"),
    (("this", "is", "the"), 0, "PRON"),
    (("the", "one", "with"), 1, "NOUN"),
    (("all", "about"), 0, "ADV"),
    (("by", "and", "by"), 2, "ADV"),
    (("a", "little", "later"), 1, "ADV"),
    (("long", "ago"), 0, "ADV"),
    (("not", "for"), 0, "ADV"),
    (("so", "he"), 0, "CCONJ"),
    (("so", "she"), 0, "CCONJ"),
    (("and", "so"), 1, "ADV"),
    (("what", "colour"), 0, "DET"),
    (("what", "colour"), 1, "NOUN"),
    (("they", "both"), 1, "ADV"),
    (("they", "all"), 1, "ADV"),
    (("we", "should", "all"), 2, "ADV"),
    (("there", "was"), 0, "PRON"),
    (("would", "like"), 1, "VERB"),
)
_ENTITY_OF = {
    "PLACE": "places settlements features features_plural countries capitals",
    "DAY": "days",
    "THING": "things",
}
_ENTITY_TAG = {category: tag for tag, listed in _ENTITY_OF.items() for category in listed.split()}


@dataclass(frozen=True, slots=True)
class RoleWord:
    """A word or punctuation mark of a story with its role."""

    text: str
    start: int  # character at which it begins
    tag: str  # one of TAGS
    entity: str  # O, or B- or I- and one of ENTITIES
    category: str = ""  # of `words`, which it was chosen from; "" for a word of a fixed phrase


@dataclass
class _Annotator(Reader):
    """Follows a story and notes what was chosen out of which category."""

    spans: list[tuple[int, int, str]] = field(default_factory=list)  # first and end character

    def choose(self, options: Options[Value], without: Sequence[Value] = ()) -> Value:
        start = self.position
        value = super().choose(options, without)
        if options.category:
            self.spans.append((start, self.position, options.category))
        return value


def split_words(text: str) -> list[tuple[str, int]]:
    """Return the words and punctuation marks of a text, each with the character it begins at.

    >>> split_words("It's a forget-me-not.")
    [("It's", 0), ('a', 5), ('forget-me-not', 7), ('.', 20)]
    >>> [len(word) for word, _ in split_words("हिन्दी 👩\\u200d🚀!")]
    [6, 3, 1]
    """
    return [(match.group(), match.start()) for match in _WORD.finditer(text)]


def roles(story: str) -> list[RoleWord]:
    """Return every word of a story of tiny-world with its part of speech and the name it is in.

    Raises NotTinyWorldError for a text that the grammar cannot have written.
    """
    reader = _Annotator(text=story)
    tell(reader)
    reader.finish()
    parts = split_words(story)
    chosen = [""] * len(parts)
    for start, end, category in reader.spans:
        known = set(words(category))
        for i, (text, at) in enumerate(parts):
            if start <= at < end and text in known:
                chosen[i] = category
    small = [text.lower() for text, _ in parts]
    tags, categories = [], []
    for i, (text, _) in enumerate(parts):
        tag = None if chosen[i] else _fixed_tag(small, i)
        categories.append("" if tag else chosen[i] or _by_word().get(text, ""))
        tags.append(tag or _tag_of_category(text, categories[i]))
    entities = _entities([text for text, _ in parts], categories)
    return [
        RoleWord(text, start, *of_word)
        for (text, start), *of_word in zip(parts, tags, entities, categories, strict=True)
    ]


@cache
def _by_word() -> dict[str, str]:
    return {word: category for category in reversed(CATEGORIES) for word in words(category)}


def _fixed_tag(small: list[str], i: int) -> str | None:
    """The tag of a word of the fixed phrases, of punctuation, or None for another word."""
    if not any(sign.isalnum() for sign in small[i]):
        return "PUNCT"
    for phrase, place, tag in _IN_PHRASE:
        first = i - place
        if first >= 0 and tuple(small[first : first + len(phrase)]) == phrase:
            return tag
    return _FIXED_TAG.get(small[i])


def _tag_of_category(word: str, category: str) -> str:
    if not category:
        raise NotTinyWorldError(f"the word {word!r} has no part of speech")
    return _TAG_OF.get(category, "NOUN")


def _entities(texts: list[str], categories: list[str]) -> list[str]:
    """The BIO tags. A surname goes on with a first name; colour and size belong to the thing."""
    tags = [OUTSIDE] * len(texts)
    for i, category in enumerate(categories):
        if category in ("girls", "boys", "names"):
            tags[i] = "B-PERSON"
        elif category == "surnames":
            tags[i] = "I-PERSON"
        elif category in _ENTITY_TAG:
            first = i
            while category == "things" and categories[first - 1] in ("colours", "sizes"):
                first -= 1
            tags[first : i + 1] = ["I-" + _ENTITY_TAG[category]] * (i + 1 - first)
            tags[first] = "B-" + _ENTITY_TAG[category]
    return tags


def sentences(words_of_text: list[RoleWord]) -> list[list[RoleWord]]:
    """Cut words after each full stop and question mark; closing quotes stay with the sentence."""
    cut: list[list[RoleWord]] = [[]]
    for word in words_of_text:
        cut[-1].append(word)
        if word.text in ".?":
            cut.append([])
    return [sentence for sentence in cut if sentence]
