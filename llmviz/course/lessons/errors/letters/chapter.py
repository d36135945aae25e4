"""Chapter "It cannot see letters": other tokens for the same letters, and tokens never read."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.corpus.letter_questions import (
    ALPHABET,
    COUNT,
    KNOWN,
    LENGTH,
    LETTERS,
    PIECES,
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
    row_of,
    spelled,
)
from llmviz.course.ui import engine, kit
from llmviz.textfile import check_text

KEY = "errors.letters"
GUESS = f"{KEY}.halves"
APART = 0.15  # between two answers of the question
LISTED = 60  # tokens that never came, to choose from
BYTES = 256  # the first ids are single bytes, most of which no text of the world has


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show a word in three spellings, then models that were trained on letters."""
    kit.prose(words.hook)
    bundled = kit.load(MODEL) if kit.models_here(MODEL) else None
    known = kit.or_refused(recorded)
    if bundled is None or known is None:
        return
    word, guess = state["spelledword"].strip(), kit.Guess(GUESS, None)
    with kit.stage("letters", stays=False):
        found = kit.or_refused(spellings, bundled.version, word) if word else None
        if found is not None:
            guess = kit.Guess(GUESS, question(found))
            _spellings(bundled, word, found, guess)
            kit.prose(words.story, word=word)
        elif not word:
            kit.inform(words.no_word, ":material/edit:")
        kit.text_input(state, "spelledword", words.word, width=280)
    opened = guess.open
    if opened and found is not None:
        kit.prose(words.caption.format(**told(word, found)))
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    if opened and found is not None:
        right = {way: known.spellings[way].right for way in SPELLINGS}
        kit.section(words.intro)
        kit.prose(words.over_read, words=known.spellings[WHOLE].words, **right)
        kit.show_code(
            [spelled, recall],
            words.snippet.format(model=MODEL, word=word),
            "\n".join(f"{way} {found[way].probability:.4f}" for way in SPELLINGS),
        )
    counts = _trained(state)
    _never(state, bundled, known)
    if opened and found is not None and counts is not None:
        kit.seen(words.end, **told(word, found), **counts)


@kit.kept(64)
def spellings(version: str, word: str) -> dict[str, Recalled]:
    """Return how well the model finds a word again, by its spelling in the story.

    Raises ValueError for a text that cannot be written.
    """
    bundled = engine.load(MODEL)
    check_text(word)
    return {way: recall(bundled.model, bundled.tokenizer, word, way) for way in SPELLINGS}


def told(word: str, found: dict[str, Recalled]) -> dict[str, str]:
    """Return the numbers of a word's three spellings as they are said."""
    chances = {way: kit.percent(found[way].probability) for way in SPELLINGS}
    return {"word": kit.quote(word), **chances}


def question(found: dict[str, Recalled]) -> kit.Question | None:
    """Return the question how probable a word is that stands in two halves.

    The wrong answers are of somebody to whom the same letters are the same word, and to whom half a
    piece is half as sure. None where two answers are too near.
    """
    whole, halves = found[WHOLE].probability, found[PIECES].probability
    reasons = {whole: words.ask_same, whole / 2: words.ask_half, halves: words.ask_right}
    if len(reasons) < 3 or np.diff(sorted(reasons)).min() < APART:
        return None
    return kit.Question.among(words.ask, reasons, halves, kit.percent)


def pieces_of(parts: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the tokens of a word as they stand, every second one lit, so that cuts are seen."""
    return [(part, at % 2 == 0) for at, part in enumerate(parts)]


def _spellings(
    bundled: engine.Bundled, word: str, found: dict[str, Recalled], guess: kit.Guess
) -> None:
    """Draw the word in its three spellings, with the probability of the right answer."""
    opened, cases = guess.open, []
    for way in SPELLINGS:
        parts = kit.names_of(spelled(bundled.tokenizer, word, way), bundled.tokenizer)
        shown = opened or way != LETTERS
        value = found[way].probability if shown else None
        label = [(f"{words.spellings[way]}: ", False), *pieces_of(parts)]
        cases.append(kit.Case(label, value, note="" if shown else "?"))
    axis = kit.Axis(0, 1, words.right_axis)
    veiled = [SPELLINGS.index(PIECES)]
    guess.cases(cases, axis, veiled=veiled, picture=f"{KEY}.spellings")


def _trained(state: kit.PageState) -> dict[str, Any] | None:
    """Show models that were trained on letters; return numbers for the end, None without them."""
    known = kit.or_refused(scores_of)
    if known is None:
        return None
    kit.section(words.trained, seeds=len(SEEDS), known=KNOWN, command=TRAINED, steps=STEPS)
    task = state["lettertask"]
    rows = task_rows(task)
    guess = float(np.mean(known.scores[task][WHOLE][UNKNOWN].guess))
    axis, levels = kit.Axis(0, 1, words.trained_axis), [(guess, words.guessing)]
    kit.case_rows(rows, axis, key=f"{KEY}.{task}", words={}, levels=levels)
    kit.choose(state, "lettertask", words.task, words.tasks)
    kit.prose(words.task_about[task] + " " + trained_read(task))
    _asked(state)
    counts = known.scores[COUNT]
    return {f"{way}_unknown": kit.percent(counts[way][UNKNOWN].mean) for way in (LETTERS, WHOLE)}


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
    return words.spellings_of_sums if task == SUM else words.spellings_of


def trained_read(task: str) -> str:
    """Return whether whole words are right about new words, and what was not learned at all."""
    scores, names = scores_of().scores[task], spelling_names(task)
    new = scores[WHOLE][UNKNOWN]
    more = all(right > guess for right, guess in zip(new.right, new.guess, strict=True))
    said = [words.luck["more" if more else "none"].format(spelling=names[WHOLE])]
    if unlearned := [names[way] for way in SPELLINGS if scores[way][READ].mean < 0.5]:
        said.append(words.unlearned.format(spellings=kit.listed(unlearned)))
    return " ".join(said)


def _asked(state: kit.PageState) -> None:
    """Let the models that count letters be asked."""
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
        kit.case_rows(cases, axis, key=f"{KEY}.asked", words={})
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


@kit.kept(64)
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
    """Show what the model makes of a token that never came."""
    counts = np.array(known.counts)
    if len(counts) != bundled.model.vocab_size:
        kit.inform(words.never_other.format(command=COMMAND), ":material/info:")
        return
    names, said = unread(bundled, counts)
    never = int((counts == 0).sum())
    kit.section(words.never, vocabulary=kit.count(len(counts), "token"), never=never)
    if not names:
        return
    if state["nevertoken"] not in names:
        state["nevertoken"] = next(iter(names))
    st.selectbox(
        words.never_token,
        list(names),
        format_func=names.__getitem__,
        width=220,
        **state.bind("nevertoken"),
    )
    kit.prose(met_line(bundled, counts, state["nevertoken"]))
    if never > 1:
        kit.prose(words.vectors_line, **said)


def _known_by(bundled: engine.Bundled, counts: np.ndarray, *token: int) -> tuple[Any, ...]:
    return bundled.kept_as, counts.tobytes(), *token


@kit.kept(2, _known_by)
def unread(bundled: engine.Bundled, counts: np.ndarray) -> tuple[dict[int, str], dict[str, str]]:
    """Return the names of tokens that never came, by id, and what `vectors` says of them all.

    counts (V,): how often each token came.
    """
    offered = [int(token) for token in np.flatnonzero(counts == 0) if token >= BYTES][:LISTED]
    names = dict(zip(offered, kit.names_of(offered, bundled.tokenizer), strict=True))
    return names, vectors(bundled.model.token.weight.detach().numpy(), counts == 0)


def vectors(table: np.ndarray, never: np.ndarray) -> dict[str, str]:
    """Return how long vectors (V, C) are and how alike any two, of tokens that never came or did.

    The cosines of all pairs of n unit vectors add up to (|their sum|² − n) / 2.
    """
    found = {}
    for name, rows in {"never": table[never], "came": table[~never]}.items():
        sizes = np.linalg.norm(rows.astype(np.float64), axis=1)
        total, n = (rows / sizes[:, None]).sum(0), len(rows)
        found[f"alike_{name}"] = kit.signed(float(total @ total - n) / (n * (n - 1)), 3)
        found[f"long_{name}"] = f"{sizes.mean():.2f}"
    return found


@kit.kept(64, _known_by)
def met_line(bundled: engine.Bundled, counts: np.ndarray, token: int) -> str:
    """Return what the model does when it meets a token that never came."""
    model, tokenizer = bundled.model, bundled.tokenizer
    row, met = row_of(model.token.weight.detach().numpy(), token), meet(model, tokenizer, token)
    near = [other for other, _ in row.nearest]
    unread_near = sum(counts[other] == 0 for other in near)
    kind = words.nearest_kind["all" if unread_near == len(near) else "some"]
    best, best_p = met.best[0]
    return words.met.format(
        token=kit.spoken(token, tokenizer),
        nearest=kit.listed([kit.spoken(other, tokenizer) for other in near]),
        kind=kind.format(count=unread_near, all=len(near)),
        best=kit.spoken(best, tokenizer),
        best_p=kit.percent(best_p),
        with_it=met.with_it,
        without=met.without,
    )
