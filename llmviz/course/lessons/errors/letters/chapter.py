"""Chapter "It cannot see letters": other tokens for the same letters, and tokens never read."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from llmviz.corpus.letter_questions import (
    ALPHABET,
    COUNT,
    KNOWN,
    LENGTH,
    READ,
    SPELLINGS,
    SUM,
    UNKNOWN,
    WHOLE,
    cut,
)
from llmviz.course.lessons.errors.letters import words
from llmviz.course.lessons.errors.letters.model import (
    COMMAND as TRAINED,
)
from llmviz.course.lessons.errors.letters.model import (
    SEEDS,
    STEPS,
    Score,
    asked_before,
    counted,
    counting,
    train_one,
)
from llmviz.course.lessons.errors.letters.model import recorded as scores_of
from llmviz.course.lessons.errors.token_letters import (
    COMMAND,
    MODEL,
    Recalled,
    TokenLetters,
    meet,
    recall,
    recorded,
    spelled,
)
from llmviz.course.ui import engine, kit
from llmviz.files.text import check_text

KEY = "errors.letters"
GUESS = f"{KEY}.counts"
EXAMPLE = "aaaafd"  # no word of the training
NOTED = 0.02  # nats per token by which a strange token must disturb a story
LISTED = 60  # tokens that never came, to choose from
BYTES = 256  # the first ids are single bytes, most of which no text of the world has


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show models that learned to count letters, then a story that is cut in three ways."""
    kit.prose(words.hook)
    known = kit.or_refused(scores_of)
    if known is None:
        return
    counts = known.scores[COUNT]
    right = {way: kit.percent(counts[way][UNKNOWN].mean) for way in SPELLINGS}
    guess = kit.Guess(GUESS, question(counts[WHOLE]))
    with st.container():  # the picture stays in view as far as its looks
        with kit.stage("letters", stays=True):
            _counts(counts, guess)
        guess.ask()
        if guess.open:
            kit.prose(words.caption, **right)
            kit.looks(state, words.looks, f"{KEY}.looks")
    if guess.open:
        asked = dict.fromkeys(("chatalone", "chatquestion"), "How many r's are in strawberry?")
        kit.real_case("assistant", words.real, **asked)
        _asked(state)
        _trained(state)
        _story(state)
        kit.seen(words.end, **{f"{way}_unknown": share for way, share in right.items()})


def question(whole: dict[str, Score]) -> kit.Question:
    """Return the question how often a model that reads whole words counts right in new ones.

    The wrong answers are of somebody to whom it has learned to count, and of blind guessing.
    """
    read, unknown = whole[READ].mean, whole[UNKNOWN].mean
    reasons = {read: words.ask_learned, 1 / (LENGTH + 1): words.ask_blind, unknown: words.ask_right}
    return kit.Question.among(
        words.ask.format(read=kit.whole_percent(read)), reasons, unknown, kit.whole_percent
    )


def _counts(counts: dict[str, dict[str, Score]], guess: kit.Guess) -> None:
    """Draw how often each kind of model counts right."""
    shown = [(WHOLE, READ), *((way, UNKNOWN) for way in SPELLINGS)]
    cases = []
    for way, test in shown:
        score, revealed = counts[way][test], guess.open or way == WHOLE
        label = [(words.rows[test].format(spelling=words.spellings[way]) + " ", False)]
        if test == UNKNOWN:
            label += pieces_of(cut(EXAMPLE, way))
        dots, value = (score.right, score.mean) if revealed else ((), None)
        cases.append(kit.Case(label, value, dots=dots, note="" if revealed else "?"))
    level = float(np.mean(counts[WHOLE][UNKNOWN].guess))
    axis, levels = kit.Axis(0, 1, words.right_axis), [(level, words.guessing)] * guess.open
    guess.cases(cases, axis, veiled=[1], picture=f"{KEY}.counts", levels=levels)


@kit.cached(64)
def spellings(version: str, word: str) -> dict[str, Recalled]:
    """Return how well the model finds a word again, by its spelling in the story.

    Raises ValueError for a text that cannot be written.
    """
    bundled = engine.load(MODEL)
    check_text(word)
    return {way: recall(bundled.model, bundled.tokenizer, word, way) for way in SPELLINGS}


def pieces_of(parts: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the tokens of a word as they stand, every second one lit, so that cuts are seen."""
    return [(part, at % 2 == 0) for at, part in enumerate(parts)]


def _story(state: kit.PageState) -> None:
    """Show a word of a story in three spellings, and a token that never came."""
    known = kit.or_refused(recorded)
    if known is None or not kit.models_here(MODEL):
        return
    bundled, word = engine.load(MODEL), state["spelledword"].strip()
    kit.section(words.intro)
    found = kit.or_refused(spellings, bundled.version, word) if word else None
    if not word:
        kit.inform(words.no_word, ":material/edit:")
    if found is not None:
        chances = {way: kit.percent(found[way].probability) for way in SPELLINGS}
        cases = [
            kit.Case(pieces_of(kit.names_of(ids, bundled.tokenizer)), found[way].probability)
            for way in SPELLINGS
            if (ids := spelled(bundled.tokenizer, word, way))
        ]
        kit.case_rows(cases, kit.Axis(0, 1, words.place_axis), key=f"{KEY}.spellings")
        kit.prose(words.story, word=kit.quote(word), **chances)
    kit.text_input(state, "spelledword", words.word, width=280)
    asked = known.spellings[WHOLE].words
    said = {0: words.none_found, asked: words.all_found}
    right = {way: said.get(n := known.spellings[way].right, n) for way in SPELLINGS}
    kit.prose(words.over_read, words=asked, **right)
    if found is not None:
        kit.show_code(
            [spelled, recall],
            words.snippet.format(model=MODEL, word=word),
            "\n".join(f"{way} {found[way].probability:.4f}" for way in SPELLINGS),
        )
    _never(state, bundled, known)


def _trained(state: kit.PageState) -> None:
    """Show how often models are right that learned another task about letters."""
    kit.section(words.trained)
    task = state["lettertask"]
    guess = float(np.mean(scores_of().scores[task][WHOLE][UNKNOWN].guess))
    axis, levels = kit.Axis(0, 1, words.right_axis), [(guess, words.guessing)]
    kit.case_rows(task_rows(task), axis, key=f"{KEY}.{task}", levels=levels)
    kit.choose(state, "lettertask", words.task, words.tasks)
    kit.prose(words.task_about[task] + " " + trained_read(task))
    kit.measured(words.trained_how, seeds=len(SEEDS), known=KNOWN, command=TRAINED, steps=STEPS)


def task_rows(task: str) -> list[kit.Case]:
    """Return each spelling of a task as lines: questions of the training, then new words."""
    scores, names = scores_of().scores[task], spelling_names(task)
    return [
        kit.Case(
            words.task_row.format(spelling=names[way], test=words.tests[test]),
            scores[way][test].mean,
            dots=scores[way][test].right,
            role="value" if test == UNKNOWN else "query",
        )
        for way in SPELLINGS
        for test in (READ, UNKNOWN)
    ]


def spelling_names(task: str) -> dict[str, str]:
    """Return what the spellings of a task's words or numbers are called."""
    return words.spellings_of_sums if task == SUM else words.spellings


def trained_read(task: str) -> str:
    """Return whether whole words are right about new words, and what was not learned at all."""
    scores, names = scores_of().scores[task], spelling_names(task)
    new = scores[WHOLE][UNKNOWN]
    more = all(right > guess for right, guess in zip(new.right, new.guess, strict=True))
    said = [words.luck["more" if more else "none"]]
    if unlearned := [names[way] for way in SPELLINGS if scores[way][READ].mean < 0.5]:
        said.append(words.unlearned.format(spellings=kit.listed(unlearned)))
    return " ".join(said)


def _asked(state: kit.PageState) -> None:
    kit.section(words.ask_one)
    word, letter = state["countedword"].strip().lower(), state["countedletter"]
    found = None
    if not word:
        kit.inform(words.no_counted, ":material/edit:")
    elif len(word) != LENGTH or set(word) - set(ALPHABET):
        said = {"length": LENGTH, "first": ALPHABET[0], "last": ALPHABET[-1]}
        kit.inform(words.other_word.format(word=kit.quote(word), **said), ":material/edit:")
    else:
        found = kit.or_refused(answers, word, letter)
    if found is not None:
        cases, axis = answer_rows(word, letter, found), kit.Axis(0, 1, words.counted_axis)
        kit.case_rows(cases, axis, key=f"{KEY}.asked")
        kind = words.answer_kind[asked_before(word, letter) or "none"]
        times = kit.count(word.count(letter), "time")
        said = {"word": kit.quote(word), "letter": kit.quote(letter), "times": times}
        kit.prose(words.answer_read, kind=kind, **said)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "countedword", words.counted_word, width=200)
        kit.choose(state, "countedletter", words.counted_letter, {sign: sign for sign in ALPHABET})
    if found is not None:
        known = {way: chances for way in SPELLINGS if (chances := found[way]) is not None}
        kit.show_code(
            [train_one, counted],
            words.snippet_trained.format(known=[*known], word=word, letter=letter),
            "\n".join(f"{way} {chances.argmax()}" for way, chances in known.items()),
        )


@kit.cached(64)
def answers(word: str, letter: str) -> dict[str, np.ndarray | None]:
    """Return how probable each count is, by spelling; None where a word is no token.

    Raises ValueError where the models are not in this copy.
    """
    return {
        way: counted(way, word, letter)
        if all(token in counting(way)[1] for token in cut(word, way))
        else None
        for way in SPELLINGS
    }


def answer_rows(word: str, letter: str, found: dict[str, np.ndarray | None]) -> list[kit.Case]:
    """Return each spelling as a line: its tokens, its answer, how probable the right one is."""
    cases = []
    for way in SPELLINGS:
        chances, parts = found[way], pieces_of(cut(word, way))
        if chances is None:
            cases.append(kit.Case([*parts, (f" {words.no_token}", False)], None, note="–"))
            continue
        says = words.says.format(answer=int(chances.argmax()))
        right = float(chances[word.count(letter)])
        cases.append(kit.Case([*parts, (f" {says}", False)], right))
    return cases


def _never(state: kit.PageState, bundled: engine.Bundled, known: TokenLetters) -> None:
    counts = np.array(known.counts)
    if len(counts) != bundled.model.vocab_size:
        kit.inform(words.never_other.format(command=COMMAND), ":material/info:")
        return
    never = np.flatnonzero(counts == 0)
    kit.section(words.never, vocabulary=kit.count(len(counts), "token"), never=never.size)
    offered = [int(token) for token in never if token >= BYTES][:LISTED]
    if not offered:
        return
    names = dict(zip(offered, kit.names_of(offered, bundled.tokenizer), strict=True))
    if state["nevertoken"] not in names:
        state["nevertoken"] = offered[0]
    st.selectbox(
        words.never_token,
        offered,
        format_func=names.__getitem__,
        width=220,
        **state.bind("nevertoken"),
    )
    kit.prose(met_line(bundled, state["nevertoken"]))


@kit.cached(64, lambda bundled, token: (bundled.kept_as, token))
def met_line(bundled: engine.Bundled, token: int) -> str:
    """Return what the model does when it meets a token that never came."""
    tokenizer = bundled.tokenizer
    met = meet(bundled.model, tokenizer, token)
    how = "stumbles" if met.with_it > met.without + NOTED else "steady"
    return words.met[how].format(
        token=kit.spoken(token, tokenizer),
        with_it=met.with_it,
        without=met.without,
    )
