"""Chapter "Parts of speech": counted tables with Viterbi's lattice beside the transformer's tagger.

T words, K tags.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.corpus.roles import TAGS
from llmviz.course import components as lv
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.lattice.view import LatticeNumbers, lattice_view
from llmviz.course.lessons.language import counted_stories as counted
from llmviz.course.lessons.language.sentence import card, named, read, sentence_box, sentence_of
from llmviz.course.lessons.language.tags import names, words
from llmviz.course.lessons.language.word_roles import ReadWord, commonest_tags, cut_sentences
from llmviz.course.ui import kit
from llmviz.language.hmm import Lattice, count_hmm, viterbi
from llmviz.language.role_scores import COUNTED, scores_of

LATTICE_KEY = "language.tags.lattice"
LATTICE_WORDS = 24  # words that have a column
LONG = 16  # letters of a word that a caption holds


def draw_lattice(state: kit.PageState, texts: Sequence[str], parts: Sequence[range]) -> None:
    which = min(state["which"], len(parts))
    whole = [texts[i] for i in parts[which - 1]]
    drawn = tuple(whole[:LATTICE_WORDS])
    kit.section(words.lattice)
    kit.prose(
        words.lattice_text,
        words=kit.count(len(drawn), "word"),
        ways=_ways(len(drawn)),
        tags=len(TAGS),
    )
    if len(parts) > 1:
        st.number_input(words.which, step=1, width=140, **state.ranged("which", most=len(parts)))
    if len(whole) > LATTICE_WORDS:
        line = words.lattice_cut.format(drawn=LATTICE_WORDS, all=len(whole))
        kit.inform(line, ":material/content_cut:")
    lattice = counted.lattice(state["smooth"], drawn)
    here = kit.place_of(state["cell"], (len(drawn), len(TAGS)))
    column, tag = here or (len(drawn) - 1, lattice.path[-1])
    lattice_view(
        numbers_of(lattice),
        key=LATTICE_KEY,
        captions=captions(lattice),
        text=words.lattice_texts,
        step=len(drawn) if state["column"] < 0 else state["column"],
        chosen=(column, tag),
        on_change=kit.bound(
            state,
            LATTICE_KEY,
            step=("column", kit.one_of(range(len(drawn)), -1)),
            chosen=("cell", kit.link_of),
        ),
    )


def _ways(length: int) -> str:
    ways = len(TAGS) ** length
    return f"{ways:,}" if ways < 10**9 else f"{len(TAGS)} to the power of {length}"


def numbers_of(lattice: Lattice) -> LatticeNumbers:
    hmm = lattice.hmm
    return LatticeNumbers(
        lattice.words,
        hmm.tags,
        lattice.scores,
        lattice.back,
        np.log(np.stack([hmm.column(word) for word in lattice.words])),
        np.log(hmm.start),
        np.log(hmm.transition),
        lattice.path,
        lattice.seen,
    )


def captions(lattice: Lattice) -> list[str]:
    """Return a sentence for each step: each word's column, then the way back."""
    lines = []
    for t, word in enumerate(lattice.words):
        best = int(lattice.scores[t].argmax())
        line = (words.caption if t else words.caption_first).format(
            word=_short(word),
            tags=len(lattice.hmm.tags),
            tag=lattice.hmm.tags[best],
            score=kit.signed(lattice.scores[t, best]),
        )
        lines.append(line + ("" if lattice.seen[t] else words.caption_unseen))
    path = " → ".join(reversed(lattice.tags))
    lines.append(words.caption_last.format(path=path, score=kit.signed(lattice.log_prob)))
    return lines


def _short(word: str) -> str:
    return word if len(word) <= LONG else f"{word[: LONG - 1]}…"


TABLES_KEY = "language.tags.tables"
COLUMNS = 12  # different words of the sentence that have a column
LONG_WORD = 12  # letters of a word that name its column


class Tables(NamedTuple):
    """The matrices of a table, all of the same tags down."""

    counts: np.ndarray
    smoothed: np.ndarray
    totals: np.ndarray  # (rows, 1), what each row is divided by
    chances: np.ndarray


def draw_tables(state: kit.PageState, sentence: tuple[str, ...]) -> None:
    kit.section(words.tables)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "table", words.table, words.table_names)
        kit.choose(state, "smooth", words.smoothing, words.smoothings)
    different = tuple(dict.fromkeys(sentence))
    listed = different[:COLUMNS]
    is_emission = state["table"] == "emission"
    picture = picture_of(state["table"], state["smooth"], listed if is_emission else ())

    lv.stage_view(
        picture,
        key=TABLES_KEY,
        step=state["tstage"],
        pinned=lv.cell_of(state["tcell"], picture.shapes),
        on_change=kit.bound(
            state, TABLES_KEY, step=("tstage", kit.one_of((0, 1), 0)), pinned=("tcell", kit.link_of)
        ),
    )
    if is_emission:
        known = len(counted.tag_counts().words)
        line = words.emission_note.format(words=known, columns=known + 1)
        if len(different) > len(listed):
            line = words.emission_cut.format(drawn=len(listed), all=len(different)) + line
        kit.prose(line)


def transition_tables(smoothing: float) -> Tables:
    """Return the table of tags after tags; its first row is the start of a sentence."""
    known = counted.tag_counts()
    counts = np.vstack([known.start, known.transition])
    smoothed = counts + smoothing
    totals = smoothed.sum(1, keepdims=True)
    return Tables(counts, smoothed, totals, smoothed / totals)


def emission_tables(smoothing: float, listed: tuple[str, ...]) -> Tables:
    """Return the columns of some words in the table of words of tags, (K, words)."""
    known = counted.tag_counts()
    counts = np.stack([known.of(word) for word in listed], axis=1)
    smoothed = counts + smoothing
    totals = (known.totals + smoothing * (len(known.words) + 1))[:, None]
    return Tables(counts, smoothed, totals, smoothed / totals)


@kit.cached(64)
def picture_of(table: str, smoothing: str, listed: tuple[str, ...]) -> lv.StagePicture:
    """Return the picture of a table; listed: the words of its columns, for that of words."""
    added = float(smoothing)
    if table == "transition":
        tables = transition_tables(added)
        labels = {
            "row_labels": [words.start, *TAGS],
            "col_labels": TAGS,
            "row_axis": words.before_axis,
            "col_axis": words.after_axis,
        }
        count_formula, chance_formula = words.count_transition, words.chance_transition
    else:
        tables = emission_tables(added, listed)
        short = [word if len(word) <= LONG_WORD else f"{word[: LONG_WORD - 1]}…" for word in listed]
        labels = {
            "row_labels": TAGS,
            "col_labels": short,
            "row_axis": words.tag_axis,
            "col_axis": words.word_axis,
        }
        count_formula, chance_formula = words.count_emission, words.chance_emission
    total_formula = words.total_emission.format(columns=len(counted.tag_counts().words) + 1)
    op = lv.rows_normalised("smoothed")
    if table == "emission":
        op = lv.divided("smoothed", "totals")
    labels |= {"scale": "sequential"}
    small = {
        "scale": "sequential",
        "row_labels": labels["row_labels"],
        "row_axis": labels["row_axis"],
    }
    matrices = [
        lv.Matrix("counts", tables.counts, words.counts, count_formula, digits=0, **labels),
        lv.Matrix("added", np.array([[added]]), words.added, scale="sequential"),
        lv.Matrix(
            "smoothed", tables.smoothed, words.smoothed, op=lv.add("counts", "added"), **labels
        ),
        lv.Matrix("totals", tables.totals, words.total, total_formula, **small),
        lv.Matrix(
            "chances",
            tables.chances,
            words.chance,
            chance_formula,
            role="weights",
            op=op,
            limit=1.0,
            **labels,
        ),
    ]
    if table == "transition":
        matrices = [matrix for matrix in matrices if matrix.name != "totals"]
    beside = [["smoothed"], ["totals"]] if table == "emission" else [["smoothed"]]
    stages = [
        lv.Stage(words.counts, words.counts, words.counts, [["counts"]], count_formula),
        lv.Stage(
            words.chance,
            words.chance,
            words.chance,
            [["chances"], ["added"], *beside],
            chance_formula,
            role="weights",
        ),
    ]
    return lv.stage_picture(matrices, stages, {})


KEY = "language.tags"
GUESS = f"{KEY}.context"
DRAWN = 40  # words that have a column
SNIPPET = 14  # words of the sentence that the code quotes


class WordQuestion(NamedTuple):
    """A word whose neighbours change its tag: where it stands, and the question about it."""

    at: int
    question: kit.Question


def ahead() -> Iterator[None]:
    """Count the stories, which takes a second the first time."""
    counted.model("0.01")
    yield
    counted.tag_counts()


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what two taggers say of the learner's words, then how the tables come to it."""
    kit.prose(words.hook)
    text = sentence_of(state)
    read_words = None if text is None else read(text)
    asked, by_tables = None, tuple[str, ...]()
    if read_words:
        texts = [word.text for word in read_words]
        by_tables = counted.tags_of(state["smooth"], tuple(texts))
        asked = context(texts, by_tables)
    guess = kit.Guess(GUESS, asked and asked.question)
    opened = guess.open
    with kit.stage("tags"):
        if read_words:
            _both(read_words, by_tables, None if opened or asked is None else asked.at)
            if opened:
                kit.prose(caption(read_words, by_tables))
        sentence_box(state)
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    _scores()
    if not read_words:
        names.draw(state, text)
        return
    parts = cut_sentences(texts)
    part = tuple(texts[i] for i in parts[min(state["which"], len(parts)) - 1])
    if opened:
        draw_lattice(state, texts, parts)
    draw_tables(state, part)
    names.draw(state, text)
    if opened:
        _code(part, state["smooth"])
        kit.seen(words.end, agree=_agree(read_words, by_tables), words=len(texts))


def context(texts: Sequence[str], given: Sequence[str]) -> WordQuestion | None:
    """Return the question which tag the tables give a word that is mostly something else.

    given: Viterbi's tags. It is the last word of a sentence with others whose one commonest tag is
    another one. The wrong answers are of somebody to whom a word is what it mostly is, and of one
    who goes by the word before it alone, or to whom it plays that word's part. None: there is none.
    """
    known = counted.tag_counts()
    common = commonest_tags(known, texts)
    found = [
        (i, part)
        for part in cut_sentences(texts)
        for i in part
        if len(part) > 1 and common[i] not in (None, given[i]) and i < DRAWN
        if (known.of(texts[i]) == known.of(texts[i]).max()).sum() == 1
    ]
    if not found:
        return None
    at, part = found[-1]
    before = [given[at - 1]] if at - 1 in part else []
    after = known.transition[TAGS.index(before[0])] if before else known.start
    others = [TAGS[int(after.argmax())], *before, *TAGS]
    third = next(tag for tag in others if tag not in (common[at], given[at]))
    own = known.of(texts[at])
    slots: dict[str, Any] = {
        "word": kit.quote(texts[at]),
        "given": named(given[at]),
        "common": common[at],
    }
    slots |= {"all": kit.count(int(own.sum()), "time"), "times": f"{int(own.max()):,}"}
    beside = [
        words.neighbour.format(word=kit.quote(texts[i]), tag=given[i])
        for i in (at - 1, at + 1)
        if i in part
    ]
    slots["neighbours"] = kit.listed(beside)
    reasons = {
        named(str(common[at])): words.ask_common,
        named(given[at]): words.ask_right,
        named(third): words.ask_other,
    }
    text = words.ask["again" if texts.count(texts[at]) > 1 else "alone"].format(**slots)
    return WordQuestion(at, kit.Question.among(text, reasons, named(given[at]), **slots))


def _both(read_words: tuple[ReadWord, ...], by_tables: tuple[str, ...], veiled: int | None) -> None:
    """Show both taggers' tags under the words; veiled: the word of which nothing is told yet."""
    drawn = read_words[:DRAWN]
    if len(read_words) > DRAWN:
        kit.inform(words.cut.format(drawn=DRAWN, all=len(read_words)), ":material/content_cut:")
    times = [counted.times(word.text) for word in drawn]
    ours, theirs = list(by_tables[: len(drawn)]), [word.tag for word in drawn]
    notes = [
        [words.note_hmm.format(tag=named(tag)) for tag in ours],
        [words.note_transformer.format(tag=named(tag)) for tag in theirs],
        [
            words.note_seen.format(count=kit.count(n, "time")) if n else words.note_unseen
            for n in times
        ],
    ]
    if veiled is not None:
        ours[veiled] = theirs[veiled] = notes[0][veiled] = notes[1][veiled] = "?"
    differ = np.array([a != b for a, b in zip(ours, theirs, strict=True)])
    cell_grid(
        np.array([differ, differ, [n == 0 for n in times]], dtype=np.float32),
        key=f"{KEY}.both",
        row_names=words.rows,
        column_names=[
            word.text if n else words.unseen_mark.format(word=word.text)
            for word, n in zip(drawn, times, strict=True)
        ],
        texts=[ours, theirs, [f"{n:,}" for n in times]],
        notes=notes,
        strong=np.array([differ, differ, differ & False]),
        starts=[2],
        role="key",
        limit=2.5,
        label=words.grid,
    )


def _agree(read_words: Sequence[ReadWord], by_tables: Sequence[str]) -> int:
    return sum(a == word.tag for a, word in zip(by_tables, read_words, strict=True))


def caption(read_words: Sequence[ReadWord], by_tables: Sequence[str]) -> str:
    """Return on how many words both agree, and which ones were never counted."""
    agree, count = _agree(read_words, by_tables), kit.count(len(read_words), "word")
    lines = [words.agree.format(agree=agree, words=count)]
    unseen = list(dict.fromkeys(word.text for word in read_words if not counted.times(word.text)))
    if unseen:
        lines.append(words.unseen.format(words=", ".join(map(kit.quote, unseen))))
    return " ".join(lines)


def _scores() -> None:
    """Show how often both are right on held-out stories, read from the bundled measurements."""
    measured = kit.or_refused(card)
    if measured is None:
        return
    kit.section(words.scores, stories=measured["test_stories"], counted=COUNTED)
    cases = [
        kit.Case([(words.kinds[kind], True), (words.taggers[name], False)], right / max(1, every))
        for kind in words.kinds
        for name in words.taggers
        for right, every in [scores_on(scores_of(measured, name), kind)]
    ]
    axis = kit.Axis(0, 1, words.right_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.scores")
    kit.prose(words.scores_read)


def scores_on(scores: Any, kind: str) -> tuple[int, int]:
    """Return how many words of a kind were tagged rightly, and how many there were."""
    if kind == "all":
        confusion = scores.confusion
        return int(np.trace(confusion)), int(confusion.sum())
    return getattr(scores, kind)


def _code(sentence: tuple[str, ...], smoothing: str) -> None:
    quoted = [word for word in sentence if len(word) <= 40][:SNIPPET]
    if not quoted:
        return
    best = counted.lattice(smoothing, tuple(quoted))
    kit.show_code(
        [count_hmm, viterbi],
        words.snippet.format(smoothing=float(smoothing), quoted=quoted),
        f"{' '.join(best.tags)}\n{best.log_prob:.3f}",
    )
