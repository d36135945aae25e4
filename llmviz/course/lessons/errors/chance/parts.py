"""The loss divided: of the learner's story, and of held-out stories for each model."""

from typing import Any

from llmviz.course.figures.stream import stacked
from llmviz.course.lessons.errors.chance import words
from llmviz.course.lessons.errors.measured import known_errors, measure_live
from llmviz.course.lessons.errors.model_errors import COMMAND, STORIES, ModelErrors
from llmviz.course.lessons.errors.story import ReadStory
from llmviz.course.ui import kit
from llmviz.evaluation.exact_loss import CERTAIN, CorpusLoss, DividedLoss, Mean

KEY = "errors.chance.parts"
PARTS = ("entropy", "divergence", "dice")
ROLES = ("residual", "weights", "accent")


def signed(value: float) -> str:
    """Return nats with three digits and a true minus sign.

    >>> signed(-0.0004), signed(-0.25)
    ('0.000', '−0.250')
    """
    text = f"{value:.3f}"
    return f"−{text[1:]}" if text.startswith("-") and float(text) else text.lstrip("-")


def added(value: float) -> str:
    """Return a part as it stands behind others in a sum.

    >>> added(0.5), added(-0.5)
    ('+ 0.500', '− 0.500')
    """
    text = signed(value)
    return f"− {text[1:]}" if text.startswith("−") else f"+ {text}"


def of_story(divided: DividedLoss) -> dict[str, Any]:
    """Return the mean parts of a story's loss as sentences name them."""
    return {
        "loss": float(divided.loss.mean()),
        "entropy": float(divided.entropy.mean()),
        "divergence": float(divided.divergence.mean()),
        "dice": signed(float(divided.dice.mean())),
    }


def draw(state: kit.PageState, story: ReadStory, divided: DividedLoss) -> bool:
    """Show the section; return whether what its question covers may be seen."""
    kit.section(words.divided)
    quiz = question(divided)
    if quiz is not None and not kit.predict(quiz, KEY, covers=True):
        return False
    kit.prose(
        words.divided_story.format(tokens=kit.count(len(divided), "token"), **of_story(divided))
    )
    name = story.bundled.name
    known = known_errors()
    own = tuple(float(getattr(divided, part).mean()) for part in PARTS)
    measured = known.get(name)
    figure = bars(own, None if measured is None else name, kit.theme())
    kit.chart(figure, f"{KEY}.bars", bar=False)
    if known:
        kit.prose(
            words.divided_corpus.format(
                stories=kit.count(STORIES, "story", "stories"), command=COMMAND
            )
        )
        kit.rows_table(rows(known), words.divided_columns)
    if measured is None:
        kit.prose(words.divided_own.format(stories=kit.count(STORIES, "story", "stories")))
        measure_live(state, "measured", story.bundled, _results, words)
    return True


def question(divided: DividedLoss) -> kit.Question | None:
    """Return the question which share of the expected loss is the world's own; None without any."""
    entropy, divergence = float(divided.entropy.mean()), float(divided.divergence.mean())
    expected = entropy + divergence
    if expected < CERTAIN:
        return None
    numbers = {"entropy": entropy, "expected": expected}
    reasons = [reason.format(**numbers) for reason in words.ask_share_reasons]
    text = words.ask_share.format(expected=expected)
    return kit.share_question(text, entropy / expected, reasons, kit.percent)


@kit.kept(64)
def bars(own: tuple[float, ...], name: str | None, mode: kit.Mode) -> kit.Figure:
    """Return the parts of a story's loss as bars, beside those of a model on held-out stories."""
    columns, values = [words.bar_story], [own]
    if name is not None:
        corpus = known_errors()[name].corpus
        columns.append(
            words.bar_corpus.format(stories=kit.count(corpus.stories, "story", "stories"))
        )
        values.append(tuple(getattr(corpus, part).value for part in PARTS))
    series = [[row[k] for row in values] for k in range(len(PARTS))]
    names = [words.parts[part] for part in PARTS]
    return stacked(columns, series, names, ROLES, words.bar_axis, mode)


def rows(known: dict[str, ModelErrors]) -> list[tuple[str, ...]]:
    """Return the table's rows, one for each model."""
    return [(kit.label(name), *numbers(errors.corpus)) for name, errors in known.items()]


def numbers(corpus: CorpusLoss) -> tuple[str, ...]:
    """Return the parts of a corpus's loss with their errors, and how many tokens there were."""
    means = (corpus.loss, corpus.entropy, corpus.divergence, corpus.dice)
    return (*map(_with_error, means), f"{corpus.tokens:,}")


def _with_error(mean: Mean) -> str:
    return words.with_error.format(value=signed(mean.value), error=f"{mean.error:.3f}")


def _results(job: kit.Job) -> None:
    last = job.results[-1] if job.results else None
    if isinstance(last, ModelErrors):
        kit.rows_table(
            [(words.bar_corpus.format(stories=last.corpus.stories), *numbers(last.corpus))],
            words.divided_columns,
        )
