"""Chapter "Names": BIO tags of the tagger, changed by hand, and two ways to score them."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.language.names import changes, questions, scores, stories, words
from llmviz.course.lessons.language.sentence import base_model, read, sentence_box, sentence_of
from llmviz.course.lessons.language.word_roles import ReadWord
from llmviz.course.ui import kit
from llmviz.language.names import span_score, spans, token_score

KEY = "language.names"
DRAWN = 48  # words that have a column
SNIPPET = 24  # words that the code quotes


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        forget = state.setter(changed="", nword=-1)
        kit.choose(state, "read", words.source, words.sources, then=forget)
        if state["read"] == "story":
            number = state.ranged("story", then=forget)
            st.number_input(words.story, step=1, width=130, **number)
    if base_model() is None:
        return
    if state["read"] == "story":
        text, truth = stories.beginnings()[state["story"] - 1]
    else:
        sentence_box(state)
        text = sentence_of(state)
        truth = None if text is None else stories.names_of_text(text)
    if text is None:
        return
    read_words = read(text)
    if read_words is None:
        return
    drawn = whole_names(truth or (), DRAWN)
    if len(read_words) > drawn:
        kit.inform(words.cut.format(drawn=drawn, all=len(read_words)), ":material/content_cut:")
    read_words, truth = read_words[:drawn], None if truth is None else truth[:drawn]
    given = [word.entity for word in read_words]
    yours = changes.applied(state["changed"], given)
    _grid(state, read_words, given, yours, truth)
    changes.control(state, read_words, yours, scored=truth is not None)
    _names(read_words, yours)
    if truth is None:
        kit.prose(words.no_truth)
    else:
        if state["read"] == "text":
            kit.prose(words.yours_is_story)
        question = questions.shortened([word.text for word in read_words], truth)
        if question is not None:
            kit.predict(question, f"{KEY}.ask")
        scores.draw(truth, yours)
    scores.draw_bundled()
    _code(read_words, truth or given, yours)
    kit.seen(words.end, **end(read_words, yours))


def end(read_words: Sequence[ReadWord], tags: Sequence[str]) -> dict[str, object]:
    """Return what the chapter ends with: the names by the tags, and the words that are new."""
    return {
        "words": kit.count(len(read_words), "word"),
        "names": kit.count(len(spans(tags)), "name"),
        "unknown": sum(not word.known for word in read_words),
    }


def whole_names(truth: Sequence[str], most: int) -> int:
    """Return up to which word a text is drawn, so that no name is cut in two.

    >>> whole_names(["O", "B-DAY", "B-PERSON", "I-PERSON", "O"], 3)
    2
    """
    while 1 < most < len(truth) and truth[most].startswith("I-"):
        most -= 1
    return most


def _grid(
    state: kit.PageState,
    read_words: Sequence[ReadWord],
    given: Sequence[str],
    yours: Sequence[str],
    truth: Sequence[str] | None,
) -> None:
    """Draw the words with their tags, a row for each source of them."""
    rows = {"tagger": given}
    if truth is not None:
        rows = {"truth": truth} | rows
    if list(yours) != list(given):
        rows["yours"] = yours
    names = list(rows)
    tags = list(rows.values())
    wrong = [
        [truth is not None and a != b for a, b in zip(row, truth or row, strict=True)]
        for row in tags
    ]

    at = state["nword"]
    cell_grid(
        np.array([[_colour(tag) for tag in row] for row in tags], dtype=np.float32),
        key=f"{KEY}.grid",
        row_names=[words.rows[name] for name in names],
        column_names=[
            word.text if word.known else words.unknown_mark.format(word=word.text)
            for word in read_words
        ],
        texts=tags,
        notes=[
            [
                note(row, i) + (words.wrong.format(truth=truth[i]) if wrong[r][i] else "")
                for i, tag in enumerate(row)
            ]
            for r, row in enumerate(tags)
        ],
        strong=np.array(wrong),
        role="value",
        limit=1.6,
        label=words.grid,
        chosen=(names.index("tagger"), at) if 0 <= at < len(read_words) else None,
        on_change=kit.bound(state, f"{KEY}.grid", chosen=("nword", kit.second_of)),
    )


def _colour(tag: str) -> float:
    return {"O": 0.0, "B": 1.0, "I": 0.55}[tag[0]]


def note(tags: Sequence[str], at: int) -> str:
    """Return what a tag means among those beside it: an I- may begin a name."""
    tag = tags[at]
    letter, _, kind = tag.partition("-")
    if letter == "I" and any(span.start == at for span in spans(tags)):
        letter = "begins"
    meaning = words.meanings[letter].format(kind=words.kinds.get(kind, ""))
    return words.note.format(tag=tag, meaning=meaning)


def _names(read_words: Sequence[ReadWord], tags: Sequence[str]) -> None:
    """Say which names the tags mark, and which words the model does not know."""
    marked = [
        words.name.format(
            words=kit.quote(" ".join(word.text for word in read_words[span.start : span.end]), 60),
            kind=words.kinds[span.kind],
        )
        for span in spans(tags)
    ]
    line = words.found.format(names=", ".join(marked)) if marked else words.none_found
    unknown = list(dict.fromkeys(word.text for word in read_words if not word.known))
    sentence = words.unknown.format(words=", ".join(map(kit.quote, unknown)))
    kit.prose(f"{line} {sentence if unknown else words.all_known}")


def _code(read_words: Sequence[ReadWord], truth: Sequence[str], given: Sequence[str]) -> None:
    a, b = list(truth[:SNIPPET]), list(given[:SNIPPET])
    kit.show_code(
        [spans, token_score, span_score],
        words.snippet.format(a=a, b=b),
        f"{spans(b)}\n{token_score([a], [b])} {span_score([a], [b])}",
    )
