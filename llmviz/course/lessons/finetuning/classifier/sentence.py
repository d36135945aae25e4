"""The learner's sentence: what a classifier says of it, and what each token gave to that."""

import numpy as np
import streamlit as st

from llmviz.course.components import token_strip
from llmviz.course.lessons.finetuning.chips import row_of
from llmviz.course.lessons.finetuning.classifier import words
from llmviz.course.lessons.finetuning.classifier.class_training import Reading, read
from llmviz.course.lessons.finetuning.classifier.ready import Ready
from llmviz.course.ui import engine, kit
from llmviz.textfile import check_text

LONGEST = 64  # tokens that are read, the last ones


def draw(state: kit.PageState, now: Ready) -> None:
    """Show the answer and two explanations of it."""
    names = now.names
    kit.section(words.sentence_section)
    kit.text_area(state, "sentence", words.sentence_label, height=80)
    if state["explained"] >= len(names):
        state["explained"] = -1
    st.selectbox(
        words.explain,
        range(-1, len(names)),
        format_func=lambda number: words.chosen if number < 0 else names[number],
        width=260,
        **state.bind("explained"),
    )
    text = kit.or_refused(check_text, state["sentence"])
    if text is None:
        return
    if not text:
        kit.inform(words.empty, ":material/edit:")
    answer = reading(now.known, text, state["explained"], now)
    if answer.left_out:
        line = words.read_last.format(count=len(answer.ids), left_out=answer.left_out)
        kit.inform(line, ":material/content_cut:")
    chances = ", ".join(
        f"{kit.quote(names[k])} {kit.percent(float(answer.probabilities[k]))}"
        for k in np.argsort(-answer.probabilities, kind="stable")
    )
    chosen = kit.quote(names[int(answer.probabilities.argmax())])
    says, target = (
        words.says.format(chosen=chosen, chances=chances),
        kit.quote(names[answer.target]),
    )
    kit.prose(f"{says}\n\n{words.occlusion.format(target=target)}")
    _strip(now, answer, answer.without, words.fell, "without")
    kit.prose(words.gradient, target=target)
    _strip(now, answer, answer.gradient, words.slope, "gradient")
    lines = [agreement(answer, now.tokenizer_of)]
    if len(answer.ids) > 1:
        last = kit.signed(float(answer.without[-1]))
        lines.insert(0, words.last_token.format(value=last, target=target))
    if any(lines):
        kit.prose("\n\n".join(filter(None, lines)))


@kit.kept(64, key=lambda known, text, target, now: (known, text, target))
def reading(known: tuple[str, object], text: str, target: int, now: Ready) -> Reading:
    """Return what a classifier says of a text, and why."""
    return read(now.model(), engine.tokenizer(now.tokenizer_of), text, LONGEST, target)


def _strip(now: Ready, answer: Reading, values: np.ndarray, label: str, key: str) -> None:
    names = kit.names_of(answer.ids, engine.tokenizer(now.tokenizer_of))
    # The class is read at the last token, which may outweigh all others: the scale is theirs.
    limit = float(np.abs(values[:-1] if len(values) > 1 else values).max()) or 1.0
    token_strip(
        [row_of(answer.ids, names, values.tolist())],
        key=f"finetuning.classifier.{key}",
        show_ids=False,
        value_label=label,
        value_range=(-limit, limit),
    )


def agreement(answer: Reading, name: str) -> str:
    """Return how far the two explanations agree.

    Nothing where one of them is the same for all, or two tokens would agree or disagree by force.
    """
    both = answer.without.astype(float), answer.gradient.astype(float)
    if len(answer.ids) < 3 or any(scores.std() == 0 for scores in both):
        return ""
    tokenizer = engine.tokenizer(name)
    tops = [kit.spoken(answer.ids[int(scores.argmax())], tokenizer) for scores in both]
    correlation = kit.signed(float(np.corrcoef(*both)[0, 1]))
    return words.agree.format(correlation=correlation, without=tops[0], gradient=tops[1])
