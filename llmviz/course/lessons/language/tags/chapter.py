"""Chapter "Parts of speech": counted tables with Viterbi's lattice beside the transformer's tagger.

T words, K tags.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from llmviz.corpus.roles import TAGS
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.language import counted_stories as counted
from llmviz.course.lessons.language.sentence import (
    card,
    named,
    read,
    sentence_box,
    sentence_of,
)
from llmviz.course.lessons.language.tags import lattice, tables, words
from llmviz.course.lessons.language.word_roles import ReadWord, commonest_tags, cut_sentences
from llmviz.course.ui import kit
from llmviz.language.hmm import count_hmm, viterbi
from llmviz.language.role_scores import COUNTED, scores_of

STAGED = True
KEY = "language.tags"
GUESS = f"{KEY}.context"
DRAWN = 40  # words that have a column
SNIPPET = 14  # words of the sentence that the code quotes


class Asked(NamedTuple):
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
    asked, by_tables = None, ()
    if read_words:
        texts = [word.text for word in read_words]
        by_tables = counted.tags_of(state["smooth"], tuple(texts))
        asked = context(texts, by_tables)
    opened = asked is None or kit.answered(asked.question, GUESS)
    with kit.stage("tags", stays=False):
        if read_words:
            _both(read_words, by_tables, None if opened or asked is None else asked.at)
            if opened:
                kit.prose(caption(read_words, by_tables))
        sentence_box(state)
    if asked is not None:
        kit.predict(asked.question, GUESS, covers=True)
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
    _scores()
    if not read_words:
        return
    parts = cut_sentences(texts)
    part = tuple(texts[i] for i in parts[min(state["which"], len(parts)) - 1])
    if opened:
        lattice.draw(state, texts, parts)
    tables.draw(state, part)
    if opened:
        _code(part, state["smooth"])
        kit.seen(words.end, agree=_agree(read_words, by_tables), words=len(texts))


def context(texts: Sequence[str], given: Sequence[str]) -> Asked | None:
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
    slots = {"word": kit.quote(texts[at]), "given": named(given[at]), "common": common[at]}
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
    return Asked(at, kit.Question.among(text, reasons, named(given[at]), **slots))


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
    kit.case_rows(cases, axis, key=f"{KEY}.scores", words={})
    kit.prose(words.scores_read)


def scores_on(scores: object, kind: str) -> tuple[int, int]:
    """Return how many words of a kind were tagged rightly, and how many there were."""
    if kind == "all":
        confusion = scores.confusion
        return int(np.trace(confusion)), int(confusion.sum())
    return getattr(scores, kind)


def _code(sentence: tuple[str, ...], smoothing: str) -> None:
    quoted = [word for word in sentence if len(word) <= 40][:SNIPPET]
    if not quoted:
        return
    lattice = counted.lattice(smoothing, tuple(quoted))
    kit.show_code(
        [count_hmm, viterbi],
        words.snippet.format(smoothing=float(smoothing), quoted=quoted),
        f"{' '.join(lattice.tags)}\n{lattice.log_prob:.3f}",
    )
