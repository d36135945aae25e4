"""Models trained with label smoothing beside models trained without it."""

from llmviz.course.lessons.errors.calibration import words
from llmviz.course.lessons.errors.calibration.model import (
    CHARACTERS,
    COMMAND,
    SEEDS,
    SMOOTHING,
    SmoothedRuns,
    recorded,
)
from llmviz.course.ui import kit

KEY = "errors.calibration.smoothing"
PLAIN, SMOOTHED = SMOOTHING


def draw() -> None:
    """Show the section."""
    known = kit.or_refused(recorded)
    if known is None:
        return
    kit.section(
        words.smoothing_section,
        share=kit.whole_percent(SMOOTHED),
        characters=CHARACTERS,
        passes=known.passes,
        seeds=len(SEEDS),
        command=COMMAND,
    )
    if kit.predict(question(known), KEY, covers=True):
        kit.rows_table(rows(known), words.smoothed_columns)
        kit.prose(read_line(known))


def question(known: SmoothedRuns) -> kit.Question:
    """Return the question by how much models with label smoothing are surer than right."""
    plain, smoothed = (known.mean(rate, "apart")[0] for rate in SMOOTHING)
    place = 0 if smoothed < plain / 2 else 1 if smoothed <= 1.5 * plain else 2
    numbers = {"plain": points(plain), "smoothed": points(smoothed), "seeds": len(SEEDS)}
    return kit.Question.rated(
        words.ask_smoothed, words.ask_smoothed_answers, place, words.ask_smoothed_reasons, **numbers
    )


def points(share: float) -> str:
    """Return a difference of shares in points, with a true minus sign."""
    text = f"{100 * share:.1f}"
    return f"{text.replace('-', '−') if float(text) else text.lstrip('-')} points"


def rows(known: SmoothedRuns) -> list[tuple[str, ...]]:
    """Return a row for each loss of the training: means over its models, and standard errors."""

    def share(smoothing: float, name: str) -> str:
        mean, error = known.mean(smoothing, name)
        return f"{100 * mean:.2f} ± {100 * error:.2f} %"

    def number(smoothing: float, name: str) -> str:
        mean, error = known.mean(smoothing, name)
        return f"{mean:.3f} ± {error:.3f}"

    return [
        (
            words.losses[name],
            *(share(rate, what) for what in ("sure", "right", "came_error", "true_error")),
            *(number(rate, what) for what in ("loss", "fitted")),
        )
        for name, rate in (("plain", PLAIN), ("smoothed", SMOOTHED))
    ]


def read_line(known: SmoothedRuns) -> str:
    """Return what label smoothing does to the calibration error and to the loss."""
    true, loss = (
        [known.mean(rate, name)[0] for rate in SMOOTHING] for name in ("true_error", "loss")
    )
    return words.smoothed_read.format(
        seeds=len(SEEDS),
        true_plain=kit.percent(true[0]),
        true_smoothed=kit.percent(true[1]),
        true_verdict=verdict(known, "true_error"),
        loss_plain=f"{loss[0]:.3f}",
        loss_smoothed=f"{loss[1]:.3f}",
        loss_verdict=verdict(known, "loss"),
    )


def verdict(known: SmoothedRuns, name: str) -> str:
    """Return whether all models of one kind have more than all of the other, or a tie."""
    plain, smoothed = (known.values(rate, name) for rate in SMOOTHING)
    lower, higher = smoothed.max() < plain.min(), smoothed.min() > plain.max()
    return words.smoothed_verdict["lower" if lower else "higher" if higher else "tie"]
