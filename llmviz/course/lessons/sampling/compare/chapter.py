"""Chapter "Side by side": three settings write from one seed."""

from functools import partial
from typing import Any

import streamlit as st

from llmviz.course.components.writer.view import writer
from llmviz.course.lessons.sampling import pipeline_settings, source, texts
from llmviz.course.lessons.sampling import words as lesson_words
from llmviz.course.lessons.sampling.compare import words
from llmviz.course.lessons.sampling.compare.params import NAMES
from llmviz.course.lessons.sampling.source import Prompted
from llmviz.course.lessons.sampling.writing.chapter import tokens_of, writer_words
from llmviz.course.ui import kit
from llmviz.sampling import text_measures, usual_order

SLICE = 0.03  # seconds of work by which each text grows in one rerun: a share of 0.1 for each
POLL = 0.1  # seconds between two reruns while they grow


@source.reads_prompt(words.intro)
def draw(state: kit.PageState, prompt: Prompted) -> None:
    """Show the chapter."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(lesson_words.seed, step=1, width=150, **state.ranged("seed"))
        st.slider(words.tokens, width=280, **state.ranged("length"))
    for name, column in zip(NAMES, st.columns(len(NAMES), gap="medium"), strict=True):
        with column:
            st.slider(f"{name}: temperature", step=0.1, **state.ranged(f"t{name}"))
            st.slider(f"{name}: top-p", step=0.05, **state.ranged(f"p{name}"))
    # New texts are too much for one rerun: they grow a slice at a time, and are shown meanwhile.
    growing = not all([_grow(state, prompt, name, 0.0) for name in NAMES])
    body = partial(_texts, state, prompt, growing)
    st.fragment(body, run_every=POLL if growing else None)()


def _settings(state: kit.PageState, name: str, vocab_size: int) -> dict[str, Any]:
    k = state[f"k{name}"]
    return {
        "temperature": state[f"t{name}"],
        "top_p": state[f"p{name}"],
        "top_k": None if k is None or k > vocab_size else k,
    }


def _grow(state: kit.PageState, prompt: Prompted, name: str, seconds: float) -> bool:
    """Let a text grow for some seconds; return whether all that it may get is known.

    A text whose settings are refused wants none.
    """
    settings = _settings(state, name, prompt.vocab_size)
    try:
        text = texts.text(prompt, settings, state["seed"], 0)
    except ValueError:  # said where the text would stand
        return True
    if seconds:
        return text.grow(_length(state, prompt), prompt.stop_id, seconds)
    return text.ended or len(text.tokens) >= _length(state, prompt)


def _length(state: kit.PageState, prompt: Prompted) -> int:
    return min(state["length"], texts.most(prompt, len(NAMES)))


def _texts(state: kit.PageState, prompt: Prompted, growing: bool) -> None:
    """Show the texts side by side; while they grow, each time a slice longer."""
    grown = all([_grow(state, prompt, name, SLICE if growing else 0.0) for name in NAMES])
    length, rows, means = _length(state, prompt), [], {}
    for name, column in zip(NAMES, st.columns(len(NAMES), gap="medium"), strict=True):
        with column:
            settings = _settings(state, name, prompt.vocab_size)
            try:
                written = texts.text(prompt, settings, state["seed"], 0)
            except ValueError as error:
                kit.refuse(error)
                continue
            tokens = tokens_of(prompt, written)[:length]
            writer(
                tokens,
                key=f"sampling.compare.{name}",
                prompt="…" + prompt.text[-40:],
                words=writer_words(prompt, len(NAMES)),
                length=len(tokens),
                limit=texts.most(prompt, len(NAMES)),
                ended=written.ended and len(written.tokens) <= length,
                controls=False,
            )
        measures = text_measures(written.tokens[:length])
        means[name] = measures["mean_log_probability"]
        rows.append(_row(name, settings, len(tokens), measures))
    if not grown:
        st.caption(words.growing)
        return
    if growing:
        st.rerun()  # which ends the looking
    if length < state["length"]:
        st.caption(words.cut.format(context=prompt.bundled.model.context_length, n=length))
    quiz = question(means)
    answered = quiz is None or kit.predict(quiz, "compare.mean", covers=True)
    if rows:
        hidden = [] if answered else [words.columns["mean"]]  # it is what was asked
        table = [row | dict.fromkeys(hidden, "?") for row in rows]
        kit.rows_table((row.values() for row in table), table[0], width=760)
    _code()
    if rows and answered:
        kit.seen(words.end, **end(rows))


def _row(
    name: str, settings: dict[str, Any], tokens: int, measures: dict[str, float]
) -> dict[str, Any]:
    text = pipeline_settings.described(
        pipeline_settings.NEUTRAL | settings | {"order": usual_order()}
    )
    values = (
        f"{name}: {text}",
        tokens,
        f"{measures['distinct']:.0%}",
        f"{measures['repetition']:.0%}",
        kit.signed(measures["mean_log_probability"]),
    )
    return dict(zip(words.columns.values(), values, strict=True))


def end(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return what the chapter ends with: two columns of the table, row by row."""

    def listed(column: str) -> str:
        names = (row[words.columns["settings"]].partition(":")[0] for row in rows)
        values = (row[words.columns[column]] for row in rows)
        return ", ".join(
            words.end_value.format(name=name, value=value)
            for name, value in zip(names, values, strict=True)
        )

    return {"distinct": listed("distinct"), "means": listed("mean")}


def question(means: dict[str, float]) -> kit.Question | None:
    """Return the question which text is the most probable one, of mean log-probabilities in nats.

    None without a clear winner: its number must differ from the others as they are shown.
    """
    ordered = sorted(means, key=means.__getitem__, reverse=True)
    if len(means) < 2 or kit.signed(means[ordered[0]]) == kit.signed(means[ordered[1]]):
        return None
    reasons = {
        name: words.ask_compare_reason.format(name=name, mean=kit.signed(mean))
        for name, mean in means.items()
    }
    return kit.Question.among(words.ask_compare, reasons, ordered[0], n=len(means))


def _code() -> None:
    kit.prose(words.note)
    kit.show_code([text_measures], words.snippet, words.prints)
