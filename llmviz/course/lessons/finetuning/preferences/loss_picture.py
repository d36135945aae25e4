"""The loss of a few pairs as linked matrices, from log-probabilities to nats."""

import numpy as np

from llmviz.course import components as lv
from llmviz.course.lessons.finetuning.preferences import words
from llmviz.course.lessons.finetuning.preferences.model import LossNumbers, loss_numbers, pair_logs
from llmviz.course.lessons.finetuning.preferences.pairs_of_rule import SEED, SHOWN, base_logs
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import kit
from llmviz.finetuning.dpo import dpo_steps

KEY = "finetuning.preferences.loss"
POSITIVE = ("probability", "nats")
LAYOUT = (
    ("now", "−", "before", "=", "gain"),
    ("better", "−", "worse", "=", "difference"),
    ("margin", "→", "probability", "→", "nats"),
)


@kit.kept(32)
def numbers_of(now: bytes, before: bytes, beta: float) -> LossNumbers:
    """Return the steps of the loss; now and before are (P, 2) float64 as bytes, for the key."""
    both = (np.frombuffer(raw).reshape(-1, 2) for raw in (now, before))
    return loss_numbers(*both, beta)


@kit.kept(32)
def matrices_of(now: bytes, before: bytes, beta: float) -> tuple[lv.Matrix, ...]:
    """Return the linked matrices."""
    both = [np.frombuffer(raw).reshape(-1, 2) for raw in (now, before)]
    steps = numbers_of(now, before, beta)
    values = {"now": both[0], "before": both[1], "gain": both[0] - both[1], **steps._asdict()}
    ops = {
        "gain": lv.subtracted("now", "before"),
        "better": lv.columns("gain", 0),
        "worse": lv.columns("gain", 1),
        "difference": lv.subtracted("better", "worse"),
        "margin": lv.scaled("difference", beta, words.times_beta.format(beta=f"{beta:g}")),
        "probability": lv.function("margin", words.sigma),
        "nats": lv.function("probability", words.minus_ln),
    }
    roles = {"better": "value", "worse": "key", "probability": "weights", "nats": "accent"}
    rows = [words.row.format(number=number + 1) for number in range(len(both[0]))]
    return tuple(
        lv.Matrix(
            name,
            values[name],
            *words.labels[name],
            row_labels=rows,
            col_labels=words.columns if values[name].shape[1] == 2 else (),
            role=roles.get(name, "neutral"),
            op=ops.get(name),
            scale="sequential" if name in POSITIVE else "auto",
            limit=1.0 if name == "probability" else None,
        )
        for name in words.labels
    )


def draw(
    state: kit.PageState, number: int, now: np.ndarray, before: np.ndarray, beta: float
) -> None:
    """Draw them; the loss of the chosen pair is open at first."""
    matrices = matrices_of(now.tobytes(), before.tobytes(), beta)
    kit.show(
        state,
        matrices,
        LAYOUT,
        key=KEY,
        control="pairscell",
        first=f"nats.{number}.0",
    )


def code(rule: str, beta: float) -> None:
    """Show the code behind it, on the untrained model."""
    before = base_logs(base(), rule).log_p
    kit.show_code(
        [dpo_steps, pair_logs],
        words.snippet_loss_picture.format(
            name=base().name, rule=rule, shown=SHOWN, seed=SEED, beta=beta
        ),
        f"{[f'{value:.2f}' for value in before[0]]}\n"
        f"{numbers_of(before.tobytes(), before.tobytes(), beta).nats.mean():.4f}",
    )
