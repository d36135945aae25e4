"""Chapter "Counts": Zipf's line of a text, its words and runs of words, and tf-idf."""

from collections.abc import Iterator
from itertools import repeat

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.language import TEXT
from llmviz.course.lessons.language.counts import counted, words
from llmviz.course.lessons.language.counts.counted import Counted
from llmviz.course.ui import kit
from llmviz.course.ui.codec import MOST_OF_A_TEXT
from llmviz.language.counts import ngrams, tf_idf, zipf
from llmviz.tokenizers import in_line

KEY = "language.counts"
GUESS = f"{KEY}.zipf"
LEAST = 0.5  # count at which the picture ends
APART = 1.0  # between two answers, at all their points together, as logarithms
STRIP_WORDS = 120
NO_ID = -1  # a word of a text that no tokenizer has cut
BARS = 8
SENTENCES, WORDS = 8, 10  # of the tables of weights: that have a row, and a column
START, SHORT = 22, 14  # letters of a sentence, and of a word, that name its row or column


def ahead() -> Iterator[None]:
    """Count the bundled texts one by one, about a second the largest."""
    for source in (name for name in words.sources if name != "text"):
        for fold in (True, False):
            counted.bundled(source, fold)
            yield


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how a text's words fall off by rank, then its runs of words and their weights."""
    kit.prose(words.hook)
    which, fold = source(state), state["fold"]
    text = kit.learner_text(state, MOST_OF_A_TEXT) if which == "text" else None
    found = None
    if which != "text":
        found = counted.bundled(which, fold)
    elif text is not None:
        found = counted.of_text(text, fold)
        if not found.words:
            kit.inform(words.no_words, ":material/info:")
            found = None
    guess = kit.Guess(GUESS, None if found is None else question(found))
    opened = guess.open
    with kit.stage("counts"):
        if found is not None:
            _zipf(found, guess, opened=opened)
        _controls(state, which)
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    if found is None:
        return
    _strip(found, revealed=opened)
    _grams(state, found)
    _weights(state, found)
    _code(found, text, state["n"])
    if opened:
        kit.seen(words.end, **end(found))


def end(found: Counted) -> dict[str, str]:
    """Return what the chapter ends with, for a text of at least one word."""
    first, times = found.first
    return {
        "all": kit.count(len(found.words), "word"),
        "different": f"{len(found.grams[0]):,}",
        "first": kit.quote(first),
        "times": kit.count(times, "time"),
    }


def source(state: kit.PageState) -> str:
    """Return what is counted: a bundled text, until the learner has written another one."""
    if state["counted"] != "auto":
        return str(state["counted"])
    return "tiny-world-sample" if state[kit.LEARNER_TEXT.key] == TEXT else "text"


def _controls(state: kit.PageState, which: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        slot = kit.tied(f"_counted@{state.page}", which, state.taker("counted"))
        st.pills(
            words.source,
            list(words.sources),
            format_func=words.sources.__getitem__,
            required=True,
            **slot,
        )
        st.toggle(words.fold, **state.bind("fold"))
    if which == "text":
        kit.text_box(state, height=90)


def ranks_of(found: Counted) -> list[int]:
    """Return the ranks that have a point: 1, 2, 5, 10, 20 … and the last."""
    last = len(found.grams[0])
    steps = [step * 10**power for power in range(len(str(last))) for step in (1, 2, 5)]
    return [*(rank for rank in steps if rank < last), last]


def question(found: Counted) -> kit.Question | None:
    """Return the question how the counts go on after the first word's.

    The wrong answers are of somebody to whom they fall evenly down to the last, and of one to whom
    each word comes half as often as the one before. None for few words, and where two are near.
    """
    line, ranks = found.zipf, ranks_of(found)
    if line is None or len(ranks) < 4:
        return None
    first, last = int(line.frequencies[0]), int(line.frequencies[-1])
    later = ranks[1:]
    right = tuple(float(line.frequencies[rank - 1]) for rank in later)
    even = tuple(first + (last - first) * (rank - 1) / (ranks[-1] - 1) for rank in later)
    half = tuple(max(LEAST, first / 2.0 ** min(rank - 1, 60)) for rank in later)
    lines = {even: words.ask_even, half: words.ask_half, right: words.ask_right}
    if len(lines) < 3:
        return None
    far = [
        np.abs(np.log(a) - np.log(b)).sum() for a, b in ((right, even), (right, half), (even, half))
    ]
    if min(far) < APART:
        return None
    text = words.ask.format(word=kit.quote(line.words[0]), times=kit.count(first, "time"))
    return kit.Question(text, words.ask_answers, 2, list(lines.values()), values=list(lines))


def _zipf(found: Counted, guess: kit.Guess, *, opened: bool) -> None:
    line, ranks = found.zipf, ranks_of(found)
    if line is None:
        kit.inform(words.zipf_too_few, ":material/info:")
        return
    counts = [float(line.frequencies[rank - 1]) for rank in ranks]
    fitted = [kit.Drawn(words.fitted, ranks, [line.at(rank) for rank in ranks], dashed=True)]
    top = 1.3 * max([counts[0], *(fitted[0].y if opened else [])])
    guess.line(
        fitted if opened else [],
        kit.Drawn(words.counted, ranks, counts, "weights"),
        kit.Scale(1, ranks[-1], words.rank_axis, log=True),
        kit.Scale(LEAST, top, words.count_axis, log=True),
        known=1,
        picture=f"{KEY}.line",
        form="count",
    )
    if opened:
        rank = min(10, len(line.words))
        kit.prose(
            words.caption,
            rank=rank,
            word=kit.quote(line.words[rank - 1]),
            count=kit.count(int(line.frequencies[rank - 1]), "time"),
            first=kit.quote(line.words[0]),
            most=kit.count(int(line.frequencies[0]), "time"),
            slope=kit.signed(line.slope),
        )


def _strip(found: Counted, *, revealed: bool) -> None:
    kit.section(words.intro)
    shown = found.words[:STRIP_WORDS]
    tokens = in_line(map(str.encode, shown), repeat(NO_ID))
    values = [float(found.grams[0][(word,)]) for word in shown]
    details = [{words.card_share: kit.percent(times / len(found.words))} for times in values]
    row = TokenRow(words.strip, tokens, values=values, details=details)
    if revealed:
        token_strip([row], key=f"{KEY}.strip", show_ids=False, value_label=words.strip_value)
    kit.prose(read_line(found))
    if found.unspaced:
        kit.inform(words.unspaced.format(word=shortened(found.unspaced)), ":material/info:")


def read_line(found: Counted) -> str:
    """Return how many words there are and which is the most frequent, if one alone is."""
    first, times = found.first
    ties = sum(other == times for other in found.grams[0].values())
    return (words.read if ties == 1 else words.read_ties).format(
        all=kit.count(len(found.words), "word"),
        different=f"{len(found.grams[0]):,}",
        first=kit.quote(first),
        share=kit.percent(times / len(found.words)),
        ties=kit.count(ties, "word"),
        times=kit.count(times, "time"),
    )


def shortened(word: str, most: int = 24) -> str:
    """Return a word, or its beginning where it is longer than a label should be."""
    return word if len(word) <= most else f"{word[: most - 1]}…"


def _grams(state: kit.PageState, found: Counted) -> None:
    """Show the most frequent runs of n words, and how many of each length stand there once."""
    kit.section(words.grams)
    n = state["n"]
    st.slider(words.n, step=1, width=220, **state.ranged("n"))
    if not found.grams[n - 1]:
        kit.inform(
            words.no_grams.format(n=n, words=kit.count(len(found.words), "word")),
            ":material/info:",
        )
    else:
        most = found.most(n, BARS)
        cases = [kit.Case(shortened(" ".join(gram), 36), times) for gram, times in most]
        axis = kit.Axis(0, most[0][1], words.grams_axis)
        kit.case_rows(cases, axis, key=f"{KEY}.grams", form="count")
    once = [
        kit.Case(words.once.format(n=size), found.once(size) / len(found.grams[size - 1]))
        for size in range(1, counted.MOST_N + 1)
        if found.grams[size - 1]
    ]
    kit.case_rows(once, kit.Axis(0, 1, words.once_axis), key=f"{KEY}.once")


def _weights(state: kit.PageState, found: Counted) -> None:
    """Show tf-idf of the words of the text's sentences, as matrices whose cells open."""
    kit.section(words.tfidf)
    matrices = tables(found)
    layout = [[matrix.name] for matrix in matrices]
    kit.show(state, matrices, layout, key=f"{KEY}.tfidf", control="weighed")
    if len(found.sentences) == 1:
        kit.inform(words.tfidf_one, ":material/info:")


def drawn_columns(found: Counted) -> list[int]:
    """Return the columns of the words that weigh most in a drawn sentence, the heaviest first."""
    most = found.weights.weights[:SENTENCES].max(0)
    return np.argsort(-most, kind="stable")[:WORDS].tolist()


def tables(found: Counted) -> list[lv.Matrix]:
    weighed, columns = found.weights, drawn_columns(found)
    drawn, idf = min(SENTENCES, len(weighed.tf)), words.formulas["idf"].format(n=len(weighed.tf))
    rows = [
        words.sentence.format(number=i + 1, start=shortened(" ".join(found.sentences[i]), START))
        for i in range(drawn)
    ]
    across = {
        "col_labels": [shortened(weighed.words[v], SHORT) for v in columns],
        "col_axis": words.word_axis,
        "scale": "sequential",
    }
    table = across | {"row_labels": rows, "row_axis": words.sentence_axis}
    given = {
        "tf": (weighed.tf[:drawn, columns], {"digits": 0, **table}),
        "df": (weighed.df[None, columns], {"digits": 0, **across}),
        "idf": (weighed.idf[None, columns], {"op": lv.function("df", "idf"), **across}),
        "weights": (
            weighed.weights[:drawn, columns],
            {"op": lv.multiply("tf", "idf"), "role": "weights", **table},
        ),
    }
    formulas = words.formulas | {"idf": idf}
    return [
        lv.Matrix(name, values, name, formulas[name], **look)
        for name, (values, look) in given.items()
    ]


def _code(found: Counted, text: str | None, n: int) -> None:
    quoted = (text if text is not None else " ".join(found.words))[: kit.IN_SNIPPET]
    short = counted.of_text(quoted, found.fold)
    if not short.words:
        return
    lower = ".lower()" if found.fold else ""
    kit.show_code(
        [ngrams, zipf, tf_idf],
        words.snippet.format(quoted=quoted, lower=lower, n=n),
        "\n".join(f"{' '.join(gram)} {times}" for gram, times in short.most(n, 3, alphabet=False)),
    )
