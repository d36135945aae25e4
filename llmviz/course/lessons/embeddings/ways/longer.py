"""Part of the chapter "Three ways": texts that are longer than any in training, measured."""

from llmviz.course.lessons.embeddings.ways import LONGER, words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.question import hand_words
from llmviz.evaluation.longer_texts import TIMES, LossBeyond, long_texts, longer_copy, loss_beyond

KEY = "embeddings.ways.longer"


def draw() -> None:
    """Say what each kind of positions has after training's places, and measure a model of each."""
    kit.section(words.longer_intro)
    kit.prose(words.longer_kinds)
    if any(kit.card_of(name) is None for name in LONGER.values()):
        return
    losses = {kind: _measured(engine.load(name)) for kind, name in LONGER.items()}
    _table(losses)
    kit.prose(what_longer_does(losses))
    kit.show_code(
        [long_texts, longer_copy, loss_beyond],
        words.snippet_longer.format(names=tuple(LONGER.values())),
        "\n".join(
            f"{loss.inside:.2f} {loss.beyond:.2f} {loss.far:.2f} {loss.from_last:.2f}"
            for loss in losses.values()
        ),
    )


def _table(losses: dict[str, LossBeyond]) -> None:
    """Show the losses of each kind; all models have one context length."""
    (context,) = {loss.context for loss in losses.values()}
    kit.prose(words.longer_measured, context=context, times=TIMES * context)
    far = {"start": (TIMES - 1) * context, "end": TIMES * context - 1}
    moments = {
        "inside": words.longer_inside.format(start=context // 2, end=context - 1),
        "beyond": words.longer_new.format(start=context, end=context * 3 // 2 - 1),
        "far": words.longer_new.format(**far),
        "from_last": words.longer_last.format(context=context),
    }
    cases = [
        kit.Case(f"{words.longer_names[kind]} · {name}", getattr(loss, moment), role=role)
        for kind, loss in losses.items()
        for (moment, name), role in zip(
            moments.items(), ("residual", "query", "query", "residual"), strict=True
        )
    ]
    most = max(case.value or 0.0 for case in cases)
    axis = kit.Axis(0, 1.05 * most, words.longer_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.rows", words=hand_words.bars, form="figure", mark="dot")


_measured = kit.kept(len(LONGER))(kit.on_model_and_tokenizer(loss_beyond))


def what_longer_does(losses: dict[str, LossBeyond]) -> str:
    """Return what the losses say: one line for each kind, then which of those alike changes least.

    losses: by kind of positions; "none" is a model that was trained in another way.
    """
    lines = [
        words.longer_change.format(
            name=words.longer_names[kind].capitalize(),
            inside=loss.inside,
            beyond=loss.beyond,
            far=loss.far,
        )
        for kind, loss in losses.items()
    ]
    changes = {kind: abs(loss.far - loss.inside) for kind, loss in losses.items() if kind != "none"}
    least = min(changes, key=changes.__getitem__)
    return " ".join(
        [*lines, words.longer_least.format(name=words.longer_names[least], rise=changes[least])]
    )
