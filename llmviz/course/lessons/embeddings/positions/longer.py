"""Part of the chapter "Positions": texts that are longer than any in training, measured."""

import streamlit as st

from llmviz.course.lessons.embeddings.positions import params
from llmviz.course.lessons.embeddings.positions import words as words
from llmviz.course.ui import engine, kit
from llmviz.evaluation.longer_texts import TIMES, LossBeyond, long_texts, longer_copy, loss_beyond

CLEAR = 0.2  # nats: a smaller change of a mean over about a thousand tokens may be chance


def draw(way: str) -> bool:
    """Ask what a kind of positions has after training's places; then measure a model of each.

    Returns whether the question was answered.
    """
    kit.section(words.longer_intro)
    kind = params.WAYS.index(way)
    question = kit.Question(
        words.longer_ask.format(way=words.longer_ways[kind]),
        words.longer_ask_answers,
        kind,
        words.longer_ask_reasons,
    )
    if not kit.predict(question, "embeddings.positions.longer", covers=True):
        return False
    kit.prose(words.longer_kinds)
    if any(kit.card_of(name) is None for name in params.LONGER.values()):
        return True
    losses = {kind: _measured(engine.load(name)) for kind, name in params.LONGER.items()}
    _table(losses)
    kit.prose(what_longer_does(losses))
    kit.show_code(
        [long_texts, longer_copy, loss_beyond],
        words.snippet_longer.format(names=tuple(params.LONGER.values())),
        "\n".join(
            f"{loss.inside:.2f} {loss.beyond:.2f} {loss.far:.2f} {loss.from_last:.2f}"
            for loss in losses.values()
        ),
    )
    return True


def _table(losses: dict[str, LossBeyond]) -> None:
    """Show the losses of each kind; all models have one context length."""
    (context,) = {loss.context for loss in losses.values()}
    kit.prose(words.longer_measured, context=context, times=TIMES * context)
    inside = words.longer_inside.format(start=context // 2, end=context - 1)
    beyond = words.longer_new.format(start=context, end=context * 3 // 2 - 1)
    far = words.longer_new.format(start=(TIMES - 1) * context, end=TIMES * context - 1)
    st.table(
        {
            words.longer_model: [words.longer_names[kind] for kind in losses],
            inside: [f"{loss.inside:.2f}" for loss in losses.values()],
            beyond: [f"{loss.beyond:.2f}" for loss in losses.values()],
            far: [f"{loss.far:.2f}" for loss in losses.values()],
            words.longer_last.format(context=context): [
                f"{loss.from_last:.2f}" for loss in losses.values()
            ],
        }
    )


_measured = kit.kept(len(params.LONGER))(kit.on_model_and_tokenizer(loss_beyond))


def what_longer_does(losses: dict[str, LossBeyond]) -> str:
    """Return what the losses say: one line for each kind, then which of those alike changes least.

    losses: by kind of positions; "none" is a model that was trained in another way.
    """
    lines = []
    for kind, loss in losses.items():
        first, last = (_change(value - loss.inside) for value in (loss.beyond, loss.far))
        line = words.longer_change.format(
            name=words.longer_names[kind].capitalize(),
            first=first,
            last=last,
            inside=loss.inside,
            beyond=loss.beyond,
            far=loss.far,
        )
        lines.append(line)
    changes = {kind: abs(loss.far - loss.inside) for kind, loss in losses.items() if kind != "none"}
    least = min(changes, key=changes.__getitem__)
    return " ".join(
        [*lines, words.longer_least.format(name=words.longer_names[least], rise=changes[least])]
    )


def _change(difference: float) -> str:
    higher, lower, same = words.longer_changes
    return higher if difference > CLEAR else lower if difference < -CLEAR else same
