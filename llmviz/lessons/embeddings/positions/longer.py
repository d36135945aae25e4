"""Part of the chapter "Positions": what a text does that is longer than any seen in training."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.embeddings.positions import params, words
from llmviz.study.longer_texts import TIMES, LossBeyond, long_texts, longer_copy, loss_beyond
from llmviz.ui import engine
from llmviz.ui.code import show_code
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict

CLEAR = 0.2  # nats: a smaller change of a mean over about a thousand tokens may be chance


@st.fragment
def draw() -> None:
    """Ask which kind of positions has no further row; once answered, measure two models."""
    section(words.LONGER_TITLE, words.LONGER_TEXT)
    asked = Question(words.ASK_LONGER, words.ASK_LONGER_ANSWERS, 1, words.ASK_LONGER_REASONS)
    names = (params.WITH, params.WITHOUT)
    if not predict(asked, "embeddings.positions.longer"):
        return
    prose(words.LONGER_KINDS)
    if not set(names) <= set(engine.names()):
        return
    measured = [_measured(name, engine.version(name)) for name in names]
    context, times = measured[0].context, TIMES
    prose(words.LONGER_MEASURED.format(context=context, times=times * context))
    st.table(
        {
            words.LONGER_MODEL: list(words.MODELS),
            words.LONGER_INSIDE.format(start=context // 2, end=context - 1): _column(
                measured, "inside"
            ),
            words.LONGER_BEYOND.format(start=context, end=context * 3 // 2 - 1): _column(
                measured, "beyond"
            ),
            words.LONGER_FAR.format(start=(times - 1) * context, end=times * context - 1): _column(
                measured, "far"
            ),
            words.LONGER_LAST.format(context=context): _column(measured, "from_last"),
        }
    )
    prose(what_longer_does(*measured))
    show_code(
        [long_texts, longer_copy, loss_beyond],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.study.longer_texts import loss_beyond\n\n"
        f"for name in {names!r}:\n"
        "    model, tokenizer, card = load_bundled(name)\n"
        "    loss = loss_beyond(model, tokenizer)\n"
        '    print(f"{loss.inside:.2f} {loss.beyond:.2f} {loss.far:.2f} {loss.from_last:.2f}")',
        "\n".join(
            f"{one.inside:.2f} {one.beyond:.2f} {one.far:.2f} {one.from_last:.2f}"
            for one in measured
        ),
    )


def _column(measured: list[LossBeyond], name: str) -> list[str]:
    return [f"{getattr(one, name):.2f}" for one in measured]


@kept(4)
def _measured(name: str, version: str) -> LossBeyond:
    bundled = engine.load(name)
    return loss_beyond(bundled.model, bundled.tokenizer)


def what_longer_does(learned: LossBeyond, without: LossBeyond) -> str:
    """Return what the losses of a model with learned positions and of one without them say."""
    sentences = []
    for line, one in ((words.LONGER_LEARNED, learned), (words.LONGER_NONE, without)):
        changes = (one.beyond - one.inside, one.far - one.inside)
        first, last = (
            words.LONGER_HOW[0 if x > CLEAR else 1 if x < -CLEAR else 2] for x in changes
        )
        sentences.append(
            line.format(first=first, last=last, inside=one.inside, beyond=one.beyond, far=one.far)
        )
    return " ".join(sentences)
