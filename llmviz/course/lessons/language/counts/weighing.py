"""tf-idf of the words of a text's sentences, as matrices whose cells open."""

import numpy as np

from llmviz.course import components as lv
from llmviz.course.lessons.language.counts import counted, questions, words
from llmviz.course.lessons.language.counts.counted import Counted
from llmviz.course.ui import kit, pinned_cells

KEY = "language.counts.tfidf"
SENTENCES, WORDS = 8, 10  # that have a row, and a column
START = 22  # characters of a sentence that name its row


def draw(state: kit.PageState, text_counts: Counted) -> None:
    """Show the section."""
    kit.section(words.tfidf)
    question = questions.heaviest(text_counts, SENTENCES)
    known = question is None or kit.answered(question[0], f"{KEY}.heaviest")
    if question is not None:
        kit.predict(question[0], f"{KEY}.heaviest", covers=True)
    matrices, layout = tables(text_counts, None if known else question[1])
    pinned_cells.show(state, matrices, layout, key=KEY, control="weighed")
    if line := cut_line(text_counts):
        kit.prose(line)
    if len(text_counts.sentences) == 1:
        kit.inform(words.tfidf_one, ":material/info:")


def cut_line(text_counts: Counted) -> str:
    """Return which sentences and words the tables leave out; "" where they show all."""
    weighed = min(counted.WEIGHED, len(text_counts.sentences))
    different, drawn = len(text_counts.weights.words), len(drawn_columns(text_counts))
    line = ""
    if weighed < len(text_counts.sentences):
        line += words.tfidf_cut.format(all=len(text_counts.sentences), documents=weighed)
    if weighed > SENTENCES:
        line += words.tfidf_rows.format(rows=SENTENCES, documents=weighed)
    if drawn < different:
        line += words.tfidf_words.format(words=different, drawn=drawn)
    return line.strip()


def drawn_columns(text_counts: Counted) -> list[int]:
    """Return the columns of the words that weigh most in a drawn sentence, the heaviest first."""
    most = text_counts.weights.weights[:SENTENCES].max(0)
    return np.argsort(-most, kind="stable")[:WORDS].tolist()


def tables(
    text_counts: Counted, covered: int | None = None
) -> tuple[list[lv.Matrix], list[list[str | None]]]:
    """Return the matrices from counts to weights, and where each stands.

    covered: the sentence whose weights a question asks for: they are hidden.
    """
    weighed, columns = text_counts.weights, drawn_columns(text_counts)
    drawn, all_sentences = min(SENTENCES, len(weighed.tf)), len(weighed.tf)
    rows = [_name(i, text_counts.sentences[i]) for i in range(drawn)]
    across = {
        "col_labels": [questions.shortened(weighed.words[v], 14) for v in columns],
        "col_axis": words.word_axis,
    }
    table = across | {"row_labels": rows, "row_axis": words.sentence_axis}
    table |= {"scale": "sequential"}
    across |= {"scale": "sequential"}
    hidden = [(covered, j) for j in range(len(columns))] if covered is not None else []
    idf_formula = words.idf_formula.format(documents=all_sentences)
    matrices = [
        lv.Matrix("tf", weighed.tf[:drawn, columns], words.tf, words.tf_formula, digits=0, **table),
        lv.Matrix("df", weighed.df[None, columns], words.df, words.df_formula, digits=0, **across),
        lv.Matrix(
            "idf",
            weighed.idf[None, columns],
            words.idf,
            idf_formula,
            op=lv.function("df", words.idf),
            **across,
        ),
        lv.Matrix(
            "weights",
            weighed.weights[:drawn, columns],
            words.weights,
            words.weights_formula,
            role="weights",
            op=lv.multiply("tf", "idf"),
            hidden=hidden,
            **table,
        ),
    ]
    layout = [["tf"], ["df"], ["idf"], ["weights"]]
    return matrices, layout


def _name(number: int, sentence: tuple[str, ...]) -> str:
    start = " ".join(sentence)
    start = start if len(start) <= START else f"{start[: START - 1]}…"
    return words.sentence.format(number=number + 1, start=start)
