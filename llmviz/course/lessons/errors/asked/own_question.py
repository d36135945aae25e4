"""A learner's question about a learner's story, with the fact in several places.

P prompts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from llmviz.corpus.words import words
from llmviz.course.lessons.errors.moved_answers import SENTENCE, behind

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

BEGINNING, MIDDLE, END = "beginning", "middle", "end"
ALONE, LEARNERS, HENS = "alone", "learners", "hens"
REWORDED, OPTIONS, TURNED = "reworded", "options", "turned"
_SENTENCES = re.compile(r"(?<=[.!?])\s+")


def people_in(text: str) -> list[str]:
    """Return the first names of the grammar that stand in a text, in the order of the text.

    >>> people_in("Hugo met Anna. Anna nodded.")
    ['Hugo', 'Anna']
    """
    known = set(words("names"))
    return list(dict.fromkeys(word for word in re.findall(r"\w+", text) if word in known))


def with_options(question: str, options: Sequence[str]) -> str:
    """Return a question that names two options before its question mark; "" where that cannot be.

    >>> with_options("Who came? It was", ["Anna", "Hugo"])
    'Who came, Anna or Hugo? It was'
    """
    start, mark, rest = question.partition("?")
    if not mark or len(options) != 2:
        return ""
    return f"{start.rstrip()}, {' or '.join(options)}?{rest}"


def own_prompts(
    story: str, fact: str, question: str, before: str = "", reworded: str = ""
) -> dict[tuple[str, str], str]:
    """Return a learner's question about a learner's story, by where the fact stands and by way.

    The fact stands before the first sentence of the story, in the middle, and behind the last.
    Ways: the question alone; behind the sentence `before`, and behind SENTENCE; in other words; and
    with the first two people of the text as options, in both orders. A way is left out where it
    would be the question alone, or needs a question mark or people that are not there.
    """
    sentences = [sentence for sentence in _SENTENCES.split(story.strip()) if sentence]
    fact, question, before, reworded = (text.strip() for text in (fact, question, before, reworded))
    options = people_in(f"{story} {fact}")[:2]
    places = {BEGINNING: 0, MIDDLE: (len(sentences) + 1) // 2, END: len(sentences)}
    ways = {
        ALONE: (question,),
        LEARNERS: (before, question) if before else (),
        HENS: (SENTENCE, question),
        REWORDED: (reworded,),
        OPTIONS: (with_options(question, options),),
        TURNED: (with_options(question, options[::-1]),),
    }
    return {
        (place, way): " ".join(
            part for part in (*sentences[:at], fact, *sentences[at:], *texts) if part
        )
        for place, at in places.items()
        for way, texts in ways.items()
        if any(texts)
    }


class OwnAnswer(NamedTuple):
    """Who is the most probable person behind a question, and which token of all tokens.

    person_p, token_p: their probabilities. people_p: that of all people of the text together.
    """

    person: str
    person_p: float
    people_p: float
    token: int
    token_p: float


def own_answers(
    model: LanguageModel, tokenizer: Tokenizer, prompts: Mapping[Any, str]
) -> dict[Any, OwnAnswer]:
    """Return the answer behind each prompt; all prompts have the same people.

    A person is told by the first token of the name; of two with the same one, the first stands for
    both. Raises ValueError where no first name of the grammar is in the texts.
    """
    people: dict[int, str] = {}
    for name in people_in(next(iter(prompts.values()))):
        people.setdefault(tokenizer.encode(f" {name}")[0], name)
    if not people:
        raise ValueError(
            "the story and the fact must name somebody that tiny-world knows, such as "
            f"{words('names')[0]}"
        )
    chances = behind(model, tokenizer, list(prompts.values())).softmax(-1).numpy()
    found = {}
    for key, row in zip(prompts, chances, strict=True):
        best = max(people, key=lambda token: row[token])
        token = int(row.argmax())
        together = float(row[list(people)].sum())
        found[key] = OwnAnswer(people[best], float(row[best]), together, token, float(row[token]))
    return found
