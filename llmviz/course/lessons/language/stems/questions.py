"""The question of the chapter "Stems": what the algorithm makes of one of the learner's words."""

from collections.abc import Sequence

from llmviz.course.lessons.language.stems import words
from llmviz.course.lessons.language.stems.model import snowball_stem
from llmviz.course.lessons.language.stems.rows import rule_text
from llmviz.course.ui import kit
from llmviz.language.lemmas import lemma
from llmviz.language.porter import stem_steps


def stem_of(listed: Sequence[str]) -> kit.Question | None:
    """Return what becomes of a word that is not in the table yet, as a question.

    None where all words that could be asked about are there.
    """
    small = {word.lower() for word in listed}
    word = next((word for word in words.asked if word not in small), None)
    return None if word is None else asked_of(word)


def asked_of(word: str) -> kit.Question | None:
    """Return what becomes of a word, as a question; the wrong answers are what else is made of it.

    None where there are fewer than three answers.
    """
    changes = [step for step in stem_steps(word) if step.before != step.after]
    right = changes[-1].after if changes else word.lower()
    line = " ".join(
        words.ask_stem_change.format(
            name=s.name, rule=kit.quote(rule_text(s.rule), 80), after=kit.quote(s.after)
        )
        for s in changes
    )
    reasons = {right: line or words.ask_stem_none}
    others = {
        "word": word.lower(),
        "first": changes[0].after if changes else right,
        "snowball": snowball_stem(word),
        "lemma": lemma(word).dictionary,
    }
    for kind, form in others.items():
        reasons.setdefault(form, words.ask_stem_wrong[kind].format(steps=line))
    if len(reasons) < 3 or not all(reasons):
        return None
    text = words.ask_stem.format(word=kit.quote(word))
    return kit.Question.among(text, reasons, right, kit.escape_markdown)
