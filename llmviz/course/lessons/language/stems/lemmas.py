"""Lemmas below the stems: dictionary and rules, and what the sentence decides."""

import numpy as np

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.language import counted_stories
from llmviz.course.lessons.language.sentence import read, sentence_box, sentence_of
from llmviz.course.lessons.language.stems import words
from llmviz.course.lessons.language.word_roles import ReadWord
from llmviz.course.ui import kit
from llmviz.language.lemmas import AMBIGUOUS, Lemma, lemma
from llmviz.language.porter import stem

KEY = "language.lemmas"
GUESS = f"{KEY}.ask"
SMOOTHING = "0.01"  # of the counted tables
DRAWN = 40  # words that have a column


def draw(state: kit.PageState) -> None:
    """Show each word of the sentence with its stem and its lemma, one of them veiled."""
    kit.section(words.lemma)
    every = _words(state)
    spelled = tuple(word for word in every if any(map(str.isalnum, word.text)))
    if every and not spelled:
        kit.inform(words.no_letters, ":material/info:")
    drawn = spelled[:DRAWN]
    asked, place = question(drawn) or (None, None)
    guess = kit.Guess(GUESS, asked)
    hidden = None if guess.open else place
    if drawn:
        at = _grid(state, drawn, hidden, place or 0)
        kit.prose(words.answer_first if at == hidden else opened_line(drawn[at]))
    kit.choose(state, "decides", words.tagger, words.taggers)
    sentence_box(state, guarded=True)
    guess.ask()
    if guess.open:
        kit.looks(state, words.lemma_looks, f"{KEY}.looks")
    if len(spelled) > DRAWN:
        kit.inform(words.cut.format(drawn=DRAWN, all=len(spelled)), ":material/content_cut:")
    if unknown := [word.text for word in drawn if not word.known]:
        line = words.unknown[state["decides"]]
        kit.prose(line, words=", ".join(map(kit.quote, dict.fromkeys(unknown))))


def _words(state: kit.PageState) -> tuple[ReadWord, ...]:
    """Return the words of the sentence with the tags of the chosen tagger; () without any."""
    text = sentence_of(state)
    every = None if text is None else read(text)
    if every is None or state["decides"] != "hmm":
        return every or ()
    tags = counted_stories.tags_of(SMOOTHING, tuple(word.text for word in every))
    return tuple(
        word._replace(tag=tag, known=counted_stories.times(word.text) > 0)
        for word, tag in zip(every, tags, strict=True)
    )


lemma_of = kit.cached(4096)(lemma)


def _grid(state: kit.PageState, drawn: tuple[ReadWord, ...], hidden: int | None, first: int) -> int:
    """Draw the grid of lemmas, but that of a hidden word; return which one is open.

    first: the word that is open until the learner clicks one.
    """
    lemmas = [lemma_of(word.text, word.tag) for word in drawn]
    at = state["lword"] if 0 <= state["lword"] < len(drawn) else first

    texts = [
        [word.tag for word in drawn],
        [stem(word.text) for word in drawn],
        [word.dictionary for word in lemmas],
        [word.by_rule for word in lemmas],
        [word.lemma for word in lemmas],
    ]
    notes = [[_note(row, word) for word in lemmas] for row in range(len(words.lemma_rows))]
    if hidden is not None:
        texts[4][hidden], notes[4][hidden] = words.hidden, words.answer_first
    decided = np.array([word.why == "tag" for word in lemmas])
    changed = [
        [a.lower() != word.text.lower() for a, word in zip(row, drawn, strict=True)]
        for row in texts
    ]
    values = 0.25 * np.array(changed, dtype=np.float32)
    values[0] = 0.0
    values[4] = np.where(decided, 1.0, values[4])
    cell_grid(
        values,
        key=f"{KEY}.grid",
        row_names=words.lemma_rows,
        column_names=[_column(word) for word in drawn],
        texts=texts,
        notes=notes,
        strong=np.array([decided if row in (0, 4) else decided & False for row in range(5)]),
        starts=[1, 4],
        limit=1.6,
        label=words.lemma_grid,
        chosen=(4, at),
        on_change=kit.bound(state, f"{KEY}.grid", chosen=("lword", kit.second_of)),
    )
    return at


def _column(word: ReadWord) -> str:
    return word.text if word.known else words.unknown_mark.format(word=word.text)


def _note(row: int, word: Lemma) -> str:
    if row == 3 and not word.rule:
        return words.no_rule.format(tag=word.tag)
    return words.lemma_notes[row].format(rule=word.rule, tag=word.tag, why=words.why[_why(word)])


def _why(word: Lemma) -> str:
    return "name" if word.tag == "PROPN" else word.why


def opened_line(word: ReadWord) -> str:
    found = lemma_of(word.text, word.tag)
    listed = [
        words.form.format(lemma=kit.quote(form), tag=tag)
        for tag, form in AMBIGUOUS.get(word.text.lower(), {}).items()
    ]
    line = words.opened_lemma[_why(found)].format(
        word=kit.quote(word.text),
        tag=word.tag,
        lemma=kit.quote(found.lemma),
        stem=kit.quote(stem(word.text)),
        rule=kit.quote(found.by_rule),
        dictionary=kit.quote(found.dictionary),
        forms=", ".join(listed),
    )
    return line + (words.two_verbs.format(other=kit.quote(found.other)) if found.other else "")


def question(drawn: tuple[ReadWord, ...]) -> tuple[kit.Question, int] | None:
    """Return which lemma a word with several of them has in the text, as a question; which word.

    Best one of which the dictionary, which sees the word alone, has another form. None where no
    word of the text has two lemmas and a tag that decides.
    """
    found = [
        (lemma_of(word.text, word.tag).dictionary == forms[word.tag], at, forms)
        for at, word in enumerate(drawn)
        for forms in [AMBIGUOUS.get(word.text.lower(), {})]
        if word.tag in forms
    ]
    if not found:
        return None
    _, at, forms = min(found, key=lambda each: each[:2])
    word = drawn[at]
    right = forms[word.tag]
    reasons = {right: words.ask_lemma_right.format(tag=word.tag, lemma=kit.quote(right))}
    for tag, form in forms.items():
        reasons.setdefault(form, words.ask_lemma_wrong.format(tag=tag))
    reasons.setdefault(stem(word.text), words.ask_lemma_stem)
    text = words.ask_lemma.format(word=kit.quote(word.text), number=at + 1)
    return kit.Question.among(text, reasons, right, kit.escape_markdown), at
