"""How often both models are right: by the number of examples, and with wrong ones among them."""

import streamlit as st

from llmviz.corpus.rules import ANSWERS
from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.finetuning.fewshot import words
from llmviz.course.lessons.finetuning.fewshot.model import OF, SHOTS, WRONG, Share
from llmviz.course.lessons.finetuning.fewshot.prompt import KEY, TUNED
from llmviz.course.ui import kit
from llmviz.finetuning.fewshot import best_possible
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.recipes import TUNINGS
from llmviz.finetuning.tuned_models import tuned_card
from llmviz.paths import TUNED as FOLDER

PROMPTS = 200  # for each point
SEED = 5  # other prompts than those of the card
TWO = 2  # groups of their rules
ALL = 2 * len(SHOTS) + len(WRONG) - 1  # points


@kit.kept(1)
def curves_of() -> kit.Job:
    """Return the asking of both models in a process of its own; done once for all visitors."""
    target = "llmviz.course.lessons.finetuning.fewshot.model:rule_curves"
    folder = str(FOLDER / TUNED)
    return kit.training_jobs().start(target, base=BASE, folder=folder, prompts=PROMPTS, seed=SEED)


def draw(state: kit.PageState) -> None:
    """Show the curve of the card, the button, and what was measured."""
    card = tuned_card(TUNED)
    known = {int(key): share for key, share in card.get("accuracy_by_examples", {}).items()}
    prompts = TUNINGS[TUNED].plan.test_examples
    kit.section(words.curves)
    if not known:
        st.info(words.no_card, icon=":material/info:")
    if not state["curves"]:
        points = tuple(sorted(known.items()))
        kit.chart(by_examples(points, (), kit.theme()), f"{KEY}.card")
        told_of = words.from_card.format(prompts=prompts) if known else ""
        kit.prose(f"{told_of} {words.measure_text.format(prompts=PROMPTS)}")
    kit.live(
        state,
        "curves",
        curves_of,
        (),
        lambda job: _draw_results(job, tuple(sorted(known.items())), card["steps"]),
        start=words.measure,
        share=lambda job: len(job.results) / ALL,
    )


def _draw_results(job: kit.Job, known: tuple[tuple[int, float], ...], steps: int) -> None:
    shares = tuple(job.results)
    plain = tuple(share for share in shares if not share.wrong)
    wrong = tuple(share for share in shares if share.model == TUNED and share.examples == OF)
    figure = by_examples(known, plain, kit.theme())
    kit.chart(figure, f"{KEY}.examples")
    if len(shares) < ALL:
        return
    kit.prose(f"{words.from_now.format(prompts=PROMPTS)} {report(plain, steps)}")
    kit.chart(by_wrong(wrong, kit.theme()), f"{KEY}.wrong")
    kit.prose(told_wrong(wrong))


@kit.kept(32)
def by_examples(
    known: tuple[tuple[int, float], ...], shares: tuple[Share, ...], mode: kit.Mode
) -> kit.Figure:
    """Return the shares over the number of examples; known: those of the card."""
    curves = []
    measured = [share for share in shares if share.model == TUNED]
    tuned = [(share.examples, share.right) for share in measured] or list(known)
    names = list(words.models.values())
    if tuned:
        curves.append(Curve(names[0], *zip(*tuned, strict=True), "weights", marks=True))
    base = [(share.examples, share.right) for share in shares if share.model == BASE]
    if base:
        curves.append(Curve(names[1], *zip(*base, strict=True), "residual", marks=True))
    best = [best_possible(examples, TWO) for examples in SHOTS]
    curves.append(Curve(words.best, SHOTS, best, "accent", dashed=True))
    return lines(curves, words.curves_axes, mode, shares=True, at=SHOTS)


@kit.kept(8)
def by_wrong(shares: tuple[Share, ...], mode: kit.Mode) -> kit.Figure:
    """Return the shares over the number of wrong examples among eight."""
    x, y = [share.wrong for share in shares], [share.right for share in shares]
    curve = Curve(words.wrong_name, x, y, "key", marks=True)
    return lines([curve], words.wrong_axes, mode, shares=True, at=WRONG)


def report(shares: tuple[Share, ...], steps: int) -> str:
    """Return what both models can do, in a sentence."""
    base = [share.right for share in shares if share.model == BASE]
    (tuned,) = (share.right for share in shares if share.model == TUNED and share.examples == OF)
    line = {
        "low": kit.percent(min(base)),
        "high": kit.percent(max(base)),
        "tuned": kit.percent(tuned),
    }
    line["cannot"] = words.cannot if max(base) < 1 / TWO else ""
    return words.measured.format(**line, steps=steps, colours=len(ANSWERS))


def told_wrong(shares: tuple[Share, ...]) -> str:
    """Return what wrong examples do, in a sentence."""
    by_count = {share.wrong: share.right for share in shares}
    most = max(by_count)
    return words.wrong_read.format(
        wrong=most, share=kit.percent(by_count[most]), clean=kit.percent(by_count[0])
    )
