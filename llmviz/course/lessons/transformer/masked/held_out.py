"""How often each model is right on held-out stories, as the card of the encoder says."""

from typing import Any

from llmviz.course.figures.losses import compared
from llmviz.course.lessons.transformer.masked import words
from llmviz.course.ui import engine, kit


def draw(both: engine.Bundled, left: engine.Bundled) -> None:
    """Show both shares; one alone where the card holds no other."""
    score, other = both.card.get("score", {}), both.card.get("left_only", {})
    ended = both.card.get("without_right_side", {})
    if "share_right" not in score:
        return
    kit.section(words.score_section)
    share = kit.percent(score["share_right"])
    if other.get("name") != left.name:
        kit.prose(words.score_one, tokens=score["tokens"], both=share)
        return
    shares = (score["share_right"], other["share_right"])
    kit.chart(share_bars(shares, kit.theme()), "transformer.masked.shares")
    kit.prose(
        words.score,
        tokens=score["tokens"],
        both=share,
        left=kit.percent(shares[1]),
        both_nats=score["nats_per_token"],
        left_nats=other["nats_per_token"],
        both_size=both.card["parameters"],
        left_size=left.card["parameters"],
        both_layers=both.model.config.n_layer,
        left_layers=left.model.config.n_layer,
    )
    kit.prose(words.not_write)
    question = cut_question(score, other, ended) if "share_right" in ended else None
    if question is not None:
        kit.predict(question, "transformer.masked.mistake")


@kit.kept(4)
def share_bars(shares: tuple[float, float], mode: kit.Mode) -> kit.Figure:
    """Return both shares as bars."""
    return compared(words.rows, shares, 0, words.score_axis, mode)


def cut_question(
    score: dict[str, Any], other: dict[str, Any], ended: dict[str, Any]
) -> kit.Question | None:
    """Return the question what the encoder gets right where nothing stands on its right.

    None where two shares are written alike.
    """
    given = {
        "both": kit.percent(score["share_right"]),
        "left": kit.percent(other["share_right"]),
        "ended": kit.percent(ended["share_right"]),
        "tokens": score["tokens"],
    }
    sides = {"both": words.cut_both, "left": words.cut_left, "ended": words.cut_right}
    reasons = {given[side]: reason for side, reason in sides.items()}
    if len(reasons) < len(sides):
        return None
    return kit.Question.among(words.cut_ask, reasons, given["ended"], **given)
