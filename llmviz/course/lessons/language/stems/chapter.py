"""Chapter "Stems": Porter's algorithm rule by rule, Snowball's, their faults, and lemmas."""

from string import ascii_lowercase

import numpy as np
import streamlit as st

from llmviz.corpus.roles import split_words
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.text_guard.view import text_guard
from llmviz.course.lessons.language.stems import lemmas, model, words
from llmviz.course.lessons.language.stems.steps import opened_text, rule_text
from llmviz.course.ui import kit
from llmviz.files.text import check_text
from llmviz.language.lemmas import lemma
from llmviz.language.porter import STEPS, StemStep, measure, stem, stem_steps

KEY = "language.stems"
GUESS = f"{KEY}.stem"
DRAWN = 12  # words that have a column


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the words after each step, one of them veiled, and what is joined that should not be."""
    kit.prose(words.hook)
    text = kit.or_refused(check_text, state["forms"])
    every = () if text is None else words_of(text)
    listed = every[:DRAWN]
    asked, place = question(listed) or (None, None)
    guess = kit.Guess(GUESS, asked)
    opened = guess.open
    hidden = None if opened else place
    with kit.stage("stems"):
        if listed:
            column, row = _grid(state, listed, hidden)
            kit.prose(words.waits if column == hidden else _opened(listed[column], row))
        with st.container(gap=None):
            kit.text_input(state, "forms", words.forms)
            text_guard(kit.furniture.half_character)
    if text is not None and not listed:
        kit.inform(words.empty, ":material/edit:")
    if len(every) > DRAWN:
        kit.inform(words.most.format(drawn=DRAWN, all=len(every)), ":material/content_cut:")
    guess.ask()
    if opened and listed:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro, rules=sum(map(len, STEPS.values())), steps=len(STEPS))
    for remark in remarks(tuple(word for at, word in enumerate(listed) if at != hidden)):
        kit.prose(remark)
    kit.programmers(words.conditions)
    _faults()
    lemmas.draw(state)
    if opened and listed:
        _code(listed)
        kit.seen(words.end, **end(listed))


def end(listed: tuple[str, ...]) -> dict[str, object]:
    """Return what the chapter ends with, for at least one word."""
    faults = [pair.fault for pair in model.judged_pairs("porter")]
    return {
        "words": kit.count(len(listed), "word"),
        "changed": sum(stem(word) != word.lower() for word in listed),
        "over": faults.count(1),
        "pairs": len(faults),
    }


def words_of(text: str) -> tuple[str, ...]:
    """Return the different words of a text, without punctuation; capitals make no difference.

    >>> words_of("Cats, cats and dogs!")
    ('Cats', 'and', 'dogs')
    """
    different: dict[str, str] = {}
    for word, _ in split_words(text):
        if any(sign.isalnum() for sign in word):
            different.setdefault(word.lower(), word)
    return tuple(different.values())


def remarks(listed: tuple[str, ...]) -> list[str]:
    """Return what is to be said of the words: shared stems, signs beyond a to z, short ones."""
    shared = "; ".join(
        f"{', '.join(map(kit.quote, members))} ({kit.quote(name)})"
        for name, members in model.families(listed).items()
    )
    other = [word for word in listed if set(word.lower()) - set(ascii_lowercase)]
    short = [word for word in listed if len(word) < 3 and stem(word) != word.lower()]
    return [words.families.format(families=shared)] * bool(shared) + [
        line.format(words=", ".join(map(kit.quote, some)))
        for line, some in ((words.other_letters, other), (words.short, short))
        if some
    ]


@kit.cached(1_024)
def steps_of(word: str) -> tuple[StemStep, ...]:
    """Return what each step of Porter's algorithm does to a word."""
    return tuple(stem_steps(word))


def question(listed: tuple[str, ...]) -> tuple[kit.Question, int] | None:
    """Return what becomes of the word that most steps change, as a question, and its place.

    The wrong answers are what else is made of it. None where no word has three answers.
    """
    judged = {word for pair in model.judged_pairs("porter") for word in pair.words}
    found = [
        (-len({step.after for step in steps_of(word)}), at)
        for at, word in enumerate(listed)
        if len(_made_of(word)) > 2 and word.lower() not in judged
    ]
    if not found:
        return None
    at = min(found)[1]
    word, made = listed[at], _made_of(listed[at])
    line = " ".join(
        words.ask_change.format(
            name=step.name, rule=kit.quote(rule_text(step.rule), 80), after=kit.quote(step.after)
        )
        for step in steps_of(word)
        if step.rule is not None and step.before != step.after
    )
    right = next(iter(made))
    reasons = {form: words.ask_reasons[kind].format(steps=line) for form, kind in made.items()}
    text = words.ask.format(word=kit.quote(word))
    return kit.Question.among(text, reasons, right, kit.escape_markdown), at


def _made_of(word: str) -> dict[str, str]:
    """Return what different ways make of a word, its stem first, each with the way's name."""
    if not word.isascii() or not word.isalpha() or stem(word) == word.lower():
        return {}
    first = next(step.after for step in steps_of(word) if step.before != step.after)
    forms = stem(word), word.lower(), first, model.snowball_stem(word), lemma(word).dictionary
    made: dict[str, str] = {}
    for kind, form in zip(words.ask_reasons, forms, strict=True):
        made.setdefault(form, kind)
    return {} if "" in made else made


def _grid(state: kit.PageState, listed: tuple[str, ...], hidden: int | None) -> tuple[int, int]:
    """Draw the words after each step, but of a hidden one; return the open (column, row)."""
    shape = len(STEPS) + 2, len(listed)
    values, fired, texts = np.zeros(shape, np.float32), np.zeros(shape, bool), []
    for column, word in enumerate(listed):
        cells = [word.lower()]
        if column == hidden:
            texts.append(cells + [words.hidden] * (shape[0] - 1))
            continue
        done = {step.name: step for step in steps_of(word)}
        for row, name in enumerate(STEPS, 1):
            step = done.get(name)
            cells.append(step.after if step else cells[-1])
            fired[row, column] = step is not None and step.fired
            values[row, column] = 0.25 * (step is not None and step.rule is not None)
        fired[-1, column] = model.snowball_stem(word) != cells[-1]
        texts.append([*cells, model.snowball_stem(word)])
    values[fired] = 1.0
    first = next(zip(*np.nonzero(fired.T), strict=True), (0, 0))
    column, row = map(int, kit.place_of(state["rule"], shape[::-1]) or first)
    steps, key = (words.step_row.format(name=name) for name in STEPS), f"{KEY}.grid"
    cell_grid(
        values,
        key=key,
        row_names=[words.start_row, *steps, words.stemmers["snowball"]],
        column_names=listed,
        texts=[*zip(*texts, strict=True)],
        strong=fired,
        starts=[1, shape[0] - 1],
        limit=1.6,
        scale=words.scale,
        label=words.grid,
        chosen=(row, column),
        on_change=kit.bound(
            state, key, chosen=("rule", lambda cell: kit.link_of(cell and cell[::-1]))
        ),
    )
    return column, row


def _opened(word: str, row: int) -> str:
    if 0 < row <= len(STEPS):
        return opened_text(word, steps_of(word), list(STEPS)[row - 1])
    ours, theirs = stem(word), model.snowball_stem(word)
    line = words.opened_snowball[ours != theirs] if row else words.opened_start
    return line.format(word=kit.quote(word.lower()), stem=kit.quote(ours), other=kit.quote(theirs))


def _faults() -> None:
    """Show which pairs both stemmers join and part, the faults coloured."""
    kit.section(words.faults)
    pairs, *_ = columns = [model.judged_pairs(name) for name in model.STEMMERS]
    values = np.array([[pair.fault for pair in line] for line in columns], np.float32).T
    cell_grid(
        values,
        key=f"{KEY}.faults",
        row_names=[words.pair[pair.together].format(*pair.words) for pair in pairs],
        column_names=[words.stemmers[name] for name in model.STEMMERS],
        texts=[[" · ".join(pair.stems) for pair in line] for line in zip(*columns, strict=True)],
        starts=[sum(not pair.together for pair in pairs)],
        limit=1.6,
        scale=words.fault_scale,
        label=words.fault_grid,
    )
    over, under = ([int(number) for number in (values == sign).sum(0)] for sign in (1, -1))
    numbers = {"over": over[0], "under": under[0], "their_over": over[1], "their_under": under[1]}
    kit.prose(words.faults_read, pairs=len(pairs), **numbers)


def _code(listed: tuple[str, ...]) -> None:
    quoted = [word for word in listed if len(word) <= 60]
    kit.show_code(
        [stem_steps, measure, lemma],
        words.snippet.format(quoted=quoted),
        "\n".join(
            f"{word} {lemma(word).dictionary} {stem(word)} "
            f"{[step.name for step in stem_steps(word) if step.fired]}"
            for word in quoted
        ),
    )
