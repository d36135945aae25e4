"""The form for a run: a short one, and every other setting with its meaning, unit and range."""

from functools import partial
from typing import Any

import streamlit as st

from llmviz.config import settings_of
from llmviz.corpus import CORPORA
from llmviz.course.lessons.training.runs import plan_controls, presets, words
from llmviz.course.lessons.training.runs.plan_controls import MARK
from llmviz.course.ui import kit
from llmviz.files.text import check_text
from llmviz.models.catalogue import MODELS, able, entry_of
from llmviz.tokenizers import TRAINERS
from llmviz.training.config import Plan

UPLOADED = "_training_text"  # in the session: (name, text) of the file that was uploaded
_NEW = "_training_text_new"  # in the session: it was uploaded a moment ago
RATES = [m * 10.0**e for e in range(-6, 2) for m in (1, 2, 3, 5)][:-3]
COLUMNS = 3
SHORT = ("model", "steps", "learning_rate")  # with the corpus, the form before all settings


def plan_and_text(state: kit.PageState) -> tuple[Plan, str | None]:
    """The plan that the form describes, and the learner's own text where that is the corpus.

    Raises ValueError naming the rule for values that cannot be.
    """
    return plan_controls.plan_of(state, st.session_state.get(UPLOADED, ("", None))[1])


def short(state: kit.PageState) -> None:
    """Show the few controls that a first run needs; they are not among `fields`."""
    _corpus(state)
    _row(state, list(SHORT))


def fields(state: kit.PageState) -> None:
    """Show all other controls, in groups."""
    st.markdown(f"**{words.groups['text']}**")
    _row(state, [*_if(state, "corpus", "tiny-world", "characters"), "tokenizer", *_vocab(state)])
    _row(state, ["context_length", "windows", "fraction"])
    st.markdown(f"**{words.groups['model']}**")
    _row(state, list(plan_controls.options_of(state[MARK + "model"])))
    st.markdown(f"**{words.groups['training']}**")
    _row(state, ["batch_size", "optimizer", "schedule", "warmup_steps"])
    _row(state, ["min_lr", "weight_decay", "grad_clip", "beta1", "beta2", "seed"])
    st.markdown(f"**{words.groups['way']}**")
    sampled = able(state[MARK + "model"], "next_token")
    samples = ["sample_every", "sample_tokens"] if sampled else []
    _row(state, ["eval_every", "eval_batches", "snapshots", *samples])
    st.markdown(f"**{words.groups['machine']}**")
    recompute = ["recompute"] if able(state[MARK + "model"], "recomputes") else []
    _row(state, ["device", "dtype", "threads", "accumulate", *recompute])


def _if(state: kit.PageState, key: str, wanted: Any, *names: str) -> list[str]:
    return list(names) if state[MARK + key] == wanted else []


def _vocab(state: kit.PageState) -> list[str]:
    return ["vocab_size"] if state[MARK + "tokenizer"] in TRAINERS else []


def _corpus(state: kit.PageState) -> None:
    st.selectbox(
        words.labels["corpus"],
        plan_controls.CORPUS_CHOICES,
        format_func=lambda name: words.corpora.get(name, name),
        help=words.corpus_help,
        **state.bind(MARK + "corpus"),
    )
    chosen = CORPORA.get(state[MARK + "corpus"])
    if chosen:
        st.caption(kit.escape_markdown(chosen.description))


def needs_own_text(state: kit.PageState) -> str:
    """Which text of the learner's own is the corpus: the typed one, a file, or none ("")."""
    chosen = state[MARK + "corpus"]
    return chosen if chosen in (plan_controls.MINE, plan_controls.FILE) else ""


def own_text(state: kit.PageState) -> None:
    """The upload and the box, where the corpus is the learner's own text."""
    needs = needs_own_text(state)
    if not needs:
        return
    upload()
    if needs == plan_controls.MINE and st.session_state.pop(_NEW, False):
        state[MARK + "corpus"] = plan_controls.FILE
        st.rerun()
    if needs == plan_controls.MINE:
        kit.text_box(state, label=words.own_text, height=140)


def awaits_file(state: kit.PageState) -> bool:
    """Whether the corpus is a file of the learner's, which is not there yet."""
    return needs_own_text(state) == plan_controls.FILE and UPLOADED not in st.session_state


def upload() -> None:
    """Take a text file; one that is no text, or too large, is refused in one line."""
    file = st.file_uploader(words.upload, type=["txt", "md", "csv"], key="_training_upload")
    if file is None:
        if UPLOADED in st.session_state:
            name, text = st.session_state[UPLOADED]
            st.caption(words.uploaded.format(name=kit.escape_markdown(name), size=f"{len(text):,}"))
        return
    try:
        text = file.getvalue().decode("utf-8-sig")
        check_text(text)
        plan_controls.check_own(text, is_file=True)
    except UnicodeDecodeError as error:
        kit.refuse(words.no_text.format(place=f"{error.start:,}"))
        return
    except ValueError as error:
        kit.refuse(error)
        return
    st.session_state[_NEW] = st.session_state.get(UPLOADED) != (file.name, text)
    st.session_state[UPLOADED] = file.name, text
    st.caption(words.uploaded.format(name=kit.escape_markdown(file.name), size=f"{len(text):,}"))


def _row(state: kit.PageState, names: list[str]) -> None:
    own = settings_of(MODELS[state[MARK + "model"]].config)
    for first in range(0, len(names), COLUMNS):
        columns = st.columns(COLUMNS)
        for column, name in zip(columns, names[first : first + COLUMNS], strict=False):
            with column:
                _field(state, name, own)


def _field(state: kit.PageState, name: str, own: dict[str, Any]) -> None:
    title = words.labels[name]
    bound = state.bind(MARK + name, partial(presets.suit, state) if name == "model" else None)
    if name == "model":
        st.selectbox(title, tuple(MODELS), help=words.model_help, format_func=model_label, **bound)
        return
    if name == "tokenizer":
        st.selectbox(title, plan_controls.TOKENIZER_CHOICES, help=words.tokenizer_help, **bound)
        return
    about, param = plan_controls.about(name, own), state.params[MARK + name]
    label = f"{title} ({about.unit})" if about.unit not in ("", title.lower()) else title
    help_text = about.meaning[:1].upper() + about.meaning[1:] + "."
    if name in plan_controls.OPTIONAL:
        help_text = help_text.replace("none", "0")  # a number's box cannot be empty
    if about.choices:
        choices = _devices() if name == "device" else list(about.choices)
        if state[MARK + name] not in choices:
            state[MARK + name] = choices[0]
            bound = state.bind(MARK + name)
        st.selectbox(label, choices, help=kit.escape_markdown(help_text), **bound)
    elif isinstance(param.default, bool):
        st.checkbox(label, help=kit.escape_markdown(help_text), **bound)
    elif name in ("learning_rate", "min_lr"):
        options = sorted({*RATES, 0.0, state[MARK + name]} - ({0.0} if name != "min_lr" else set()))
        st.select_slider(
            label,
            options,
            format_func=lambda x: f"{x:g}",
            help=kit.escape_markdown(help_text),
            **bound,
        )
    else:
        whole = isinstance(param.default, int)
        low, high = 0 if name in plan_controls.OPTIONAL else about.low, about.high
        help_text += " " + words.range.format(low=f"{low:g}", high=f"{high:,g}")
        st.number_input(
            label,
            step=None if whole else 0.01,
            format=None if whole else "%g",
            help=kit.escape_markdown(help_text),
            **state.ranged(MARK + name, least=low, most=max(high, state[MARK + name])),
        )


@kit.cached(1)
def _devices() -> list[str]:
    import torch

    devices = ["auto"]
    devices += ["cuda"] if torch.cuda.is_available() else []
    devices += ["mps"] if torch.backends.mps.is_available() else []
    return [*devices, "cpu"]


def model_label(name: str) -> str:
    """A model's name with a few words on what it is; those of the catalogue where none are here."""
    return f"{name}: {words.models.get(name) or entry_of(name).description}"
