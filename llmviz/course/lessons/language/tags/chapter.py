"""Chapter "Parts of speech": counted tables with Viterbi's lattice beside the transformer's tagger.

T words, K tags.
"""

from collections.abc import Iterator

import numpy as np
import streamlit as st

from llmviz.corpus.roles import TAGS
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.language import counted_stories as counted
from llmviz.course.lessons.language.sentence import (
    base_model,
    named,
    read,
    sentence_box,
    sentence_of,
)
from llmviz.course.lessons.language.tags import lattice, questions, scores, tables, two_roles, words
from llmviz.course.lessons.language.word_roles import ReadWord, cut_sentences
from llmviz.course.ui import kit
from llmviz.language.hmm import count_hmm, viterbi

KEY = "language.tags"
DRAWN = 40  # words that have a column
SNIPPET = 14  # words of the sentence that the code quotes


def ahead() -> Iterator[None]:
    """Count the stories, which takes a second the first time."""
    counted.model("0.01")
    yield
    counted.tag_counts()
    yield
    counted.two_roles()


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, stories=counted.COUNTED)
    sentence_box(state)
    text = sentence_of(state)
    if text is None or base_model() is None:
        return
    read_words = read(text)
    if read_words is None:
        return
    texts = [word.text for word in read_words]
    parts = cut_sentences(texts)
    by_tables = counted.tags_of(state["smooth"], tuple(texts))
    agree = _both(read_words, by_tables)
    lattice.draw(state, texts, parts)
    question = questions.context(texts, by_tables)
    if question is not None:
        kit.predict(question, f"{KEY}.context")
    part = parts[min(state["which"], len(parts)) - 1]
    tables.draw(state, tuple(texts[i] for i in part))
    scores.draw(state)
    two_roles.draw(state)
    _code(tuple(texts[i] for i in part), state["smooth"])
    kit.seen(words.end, agree=agree, words=kit.count(len(texts), "word"))


def _both(read_words: tuple[ReadWord, ...], by_tables: tuple[str, ...]) -> int:
    """Show both taggers' tags under the words; return on how many they agree."""
    drawn = read_words[:DRAWN]
    if len(read_words) > DRAWN:
        kit.inform(words.cut.format(drawn=DRAWN, all=len(read_words)), ":material/content_cut:")
    times = [counted.times(word.text) for word in drawn]
    ours = by_tables[: len(drawn)]
    theirs = [word.tag for word in drawn]
    differ = np.array([a != b for a, b in zip(ours, theirs, strict=True)])
    seen_notes = [
        words.note_seen.format(count=kit.count(n, "time")) if n else words.note_unseen
        for n in times
    ]
    cell_grid(
        np.array([differ, differ, [n == 0 for n in times]], dtype=np.float32),
        key=f"{KEY}.both",
        row_names=words.rows,
        column_names=[
            word.text if n else words.unseen_mark.format(word=word.text)
            for word, n in zip(drawn, times, strict=True)
        ],
        texts=[ours, theirs, [f"{n:,}" for n in times]],
        notes=[
            [words.note_hmm.format(tag=named(tag)) for tag in ours],
            [words.note_transformer.format(tag=named(tag)) for tag in theirs],
            seen_notes,
        ],
        strong=np.array([differ, differ, differ & False]),
        starts=[2],
        role="key",
        limit=2.5,
        label=words.grid,
    )
    agree = sum(a == word.tag for a, word in zip(by_tables, read_words, strict=True))
    line = words.agree.format(agree=agree, words=kit.count(len(read_words), "word"))
    unseen = list(dict.fromkeys(word.text for word in read_words if not counted.times(word.text)))
    if unseen:
        line += " " + words.unseen.format(words=", ".join(map(kit.quote, unseen)))
    kit.prose(line)
    st.caption(words.legend.format(tags=", ".join(named(tag) for tag in TAGS)))
    return agree


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
