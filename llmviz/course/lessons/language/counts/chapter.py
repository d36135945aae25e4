"""Chapter "Counts": words and n-grams, Zipf's line, tf-idf of the learner's text."""

from collections.abc import Iterator

import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.language.counts import counted, pictures, questions, weighing, words
from llmviz.course.lessons.language.counts.counted import Counted
from llmviz.course.ui import kit
from llmviz.course.ui.codec import MOST_OF_A_TEXT
from llmviz.language.counts import ngrams, tf_idf, zipf
from llmviz.tokenizers import Token

KEY = "language.counts"
STRIP_WORDS = 300
NO_ID = -1  # a word of a text that no tokenizer has cut


def ahead() -> Iterator[None]:
    """Count the bundled texts one by one, about a second the largest."""
    for source in (name for name in words.sources if name != "text"):
        for fold in (True, False):
            counted.bundled(source, fold)
            yield


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.choose(state, "counted", words.source, words.sources)
    source, text = state["counted"], None
    if source == "text":
        kit.text_box(state, height=90)
        text = kit.learner_text(state, MOST_OF_A_TEXT)
        if text is None:
            return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.n, step=1, width=220, **state.ranged("n"))
        st.toggle(words.fold, **state.bind("fold"))
    fold = state["fold"]
    text_counts = counted.bundled(source, fold) if text is None else counted.of_text(text, fold)
    if not text_counts.words:
        kit.inform(words.no_words, ":material/info:")
        return
    _strip(text_counts)
    _grams(text_counts, state["n"], (source, text, fold))
    _zipf(text_counts, (source, text, fold))
    weighing.draw(state, text_counts)
    _code(text_counts, text, state["n"])
    kit.seen(words.end, **end(text_counts))


def end(text_counts: Counted) -> dict[str, str]:
    """Return what the chapter ends with, for a text of at least one word."""
    first, times = text_counts.first
    return {
        "all": kit.count(len(text_counts.words), "word"),
        "different": f"{len(text_counts.grams[0]):,}",
        "first": kit.quote(first),
        "times": kit.count(times, "time"),
    }


def _strip(text_counts: Counted) -> None:
    tokens, values, details, at = [], [], [], 0
    for word in text_counts.words[:STRIP_WORDS]:
        data = word.encode()
        tokens.append(Token(NO_ID, data, at, at + len(data), at, at + len(word)))
        at += len(data)
        times = text_counts.grams[0][(word,)]
        values.append(float(times))
        details.append({words.card_share: kit.percent(times / len(text_counts.words))})
    row = TokenRow(words.strip, tokens, values=values, details=details)
    token_strip([row], key=f"{KEY}.strip", show_ids=False, value_label=words.strip_value)
    if len(text_counts.words) > STRIP_WORDS:
        st.caption(words.strip_cut.format(drawn=STRIP_WORDS, all=len(text_counts.words)))
    kit.prose(read_line(text_counts))
    if text_counts.unspaced:
        word = questions.shortened(text_counts.unspaced)
        kit.inform(words.unspaced.format(word=word), ":material/info:")


def read_line(text_counts: Counted) -> str:
    """Return how many words there are and which is the most frequent, if one alone is."""
    first, times = text_counts.first
    ties = sum(other == times for other in text_counts.grams[0].values())
    return (words.read if ties == 1 else words.read_ties).format(
        all=kit.count(len(text_counts.words), "word"),
        different=f"{len(text_counts.grams[0]):,}",
        first=kit.quote(first),
        share=kit.percent(times / len(text_counts.words)),
        ties=kit.count(ties, "word"),
        times=kit.count(times, "time"),
    )


def _grams(text_counts: Counted, n: int, known: pictures.Known) -> None:
    kit.section(words.grams)
    if not text_counts.grams[n - 1]:
        all_words = kit.count(len(text_counts.words), "word")
        kit.inform(words.no_grams.format(n=n, words=all_words), ":material/info:")
    else:
        kit.chart(pictures.bars(*known, n, kit.theme()), f"{KEY}.bars")
        if not kit.predict(questions.once(text_counts, n), f"{KEY}.once", covers=True):
            st.caption(words.answer_first)
            return
    there = [size for size in range(1, counted.MOST_N + 1) if text_counts.grams[size - 1]]
    rows, notes, values = [], [], []
    for size in there:
        different, once = len(text_counts.grams[size - 1]), text_counts.once(size)
        share, total = once / different, len(text_counts.words) - size + 1
        rows.append([f"{different:,}", f"{once:,}", kit.percent(share)])
        slots = {"once": once, "different": different, "n": size, "all": total}
        line = words.sparse_once.format(share=kit.percent(share), **slots)
        notes.append([words.sparse_different.format(**slots), line, line])
        values.append([different / total, once / total, share])
    cell_grid(
        pictures.shares(values),
        key=f"{KEY}.sparse",
        row_names=[words.sparse_row.format(n=size) for size in there],
        column_names=words.sparse_columns,
        texts=rows,
        notes=notes,
        limit=1.0,
        label=words.sparse_label,
    )


def _zipf(text_counts: Counted, known: pictures.Known) -> None:
    kit.section(words.zipf)
    line = text_counts.zipf
    if line is None:
        kit.inform(words.zipf_too_few, ":material/info:")
        return
    kit.chart(pictures.zipf_line(*known, kit.theme()), f"{KEY}.zipf")
    if (drawn := len(pictures.drawn_ranks(len(line.words)))) < len(line.words):
        st.caption(words.zipf_cut.format(words=len(line.words), drawn=drawn))
    rank = min(10, len(line.words))
    kit.prose(
        words.zipf_read,
        words=len(line.words),
        intercept=kit.signed(round(line.intercept, 2) + 0.0),
        slope=kit.signed(round(line.slope, 2) + 0.0),  # no minus before 0.00
        rank=rank,
        line=f"{line.at(rank):,.1f}",
        word=kit.quote(line.words[rank - 1]),
        count=kit.count(int(line.frequencies[rank - 1]), "time"),
    )


def _code(text_counts: Counted, text: str | None, n: int) -> None:
    quoted = (text if text is not None else " ".join(text_counts.words))[: kit.IN_SNIPPET]
    short = counted.of_text(quoted, text_counts.fold)
    if not short.words:
        return
    lower = ".lower()" if text_counts.fold else ""
    kit.show_code(
        [ngrams, zipf, tf_idf],
        words.snippet.format(quoted=quoted, lower=lower, n=n),
        "\n".join(f"{' '.join(gram)} {times}" for gram, times in short.most(n, 3, alphabet=False)),
    )
