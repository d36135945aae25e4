"""Chapter "Following instructions": what a base model lacks, which tokens count, what is lost."""

import contextlib
import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.corpus import generate
from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.finetuning import tuned_model
from llmviz.course.lessons.finetuning.chips import row_of
from llmviz.course.lessons.finetuning.instructions import words
from llmviz.course.ui import engine, kit
from llmviz.evaluation.exact_loss import log_softmax
from llmviz.evaluation.text_loss import target_logits
from llmviz.files.text import check_text
from llmviz.finetuning.adapters import load_adapter
from llmviz.finetuning.continuations import Continuation
from llmviz.finetuning.instructions import Instruction, ask, tokens_of
from llmviz.finetuning.masked import masked_batch
from llmviz.finetuning.plan import BASE
from llmviz.finetuning.recipes import TUNINGS
from llmviz.finetuning.tuned_models import tuned_card
from llmviz.models.base import LanguageModel
from llmviz.training.evaluate import evaluate_documents

KEY = "finetuning.instructions"
GUESS = f"{KEY}.mask"
MIXED, ALONE = "instructions", "instructions-alone"
TOKENS = 24  # that each model writes
LINE = 200  # characters of it that are shown
STORIES, SEED = 16, 5_000_011  # of plain stories that no model here was trained on
LIKE = 0.0005  # nats per token that are no difference in the digits that are shown


class Example(NamedTuple):
    """An example token by token: its ids (T,), and which of them the loss counts (T,) bool."""

    ids: tuple[int, ...]
    counts: tuple[bool, ...]


def ahead() -> None:
    """Measure what was forgotten, which no visitor changes."""
    if BASE in engine.names():
        with contextlib.suppress(ValueError):  # the page says what is wrong
            measured(tuned_model.base())


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how a storyteller fails on a question, then what it was trained on, and forgot."""
    kit.prose(words.hook)
    if not kit.models_here(BASE):
        return
    task = kit.or_refused(_asked, state["story"], state["question"], state["reply"])
    models = None if task is None else kit.or_refused(both)
    known, guess = None, kit.Guess(GUESS, None)
    if models and task is not None:
        known = kit.or_refused(encoded, models["base"], task)
        guess = kit.Guess(
            GUESS, None if known is None else mask_question(known, task), by_hand=True
        )
    opened = guess.open
    with kit.stage("instructions"):
        if models and task is not None:
            _lanes(models, task, known, opened=opened)
        if models and task is not None and known is not None:
            _strip(task, guess, opened=opened)
        _controls(state)
    guess.ask()
    if models and opened:
        weak, share = min(tuned_card(MIXED)["right_by_kind"].items(), key=lambda pair: pair[1])
        weakest = {"kind": words.kinds[weak], "share": kit.whole_percent(share)}
        kit.looks(state, words.looks, f"{KEY}.looks", **weakest)
    seen = _costs(models, task, known) if models and task and known and opened else None
    forgot = _forgotten()
    if seen and forgot:
        kit.seen(words.end, **seen, **forgot)


def both() -> dict[str, engine.Bundled]:
    return {"base": tuned_model.base(), "tuned": tuned_model.tuned(MIXED)}


def _asked(story: str, question: str, reply: str) -> Instruction:
    """Return what is asked; where no answer is known, the tuned model's stands in its place."""
    for text in (story, question, reply):
        check_text(text)
    if not question.strip():
        raise ValueError(words.empty)
    task = Instruction(story, question, known_answer(story, question) or typed_answer(reply))
    if task.answer:
        return task
    said = tuned_model.written(both()["tuned"], task.prompt, TOKENS).text
    said = said.strip().split("\n")[0].removesuffix(".")
    return dataclasses.replace(task, answer=said, kind="unknown")


def _controls(state: kit.PageState) -> None:
    """Show the question, those that the grammar can answer, and the story behind them."""

    def take(question: str) -> None:
        state["question"], state["reply"] = question, ""

    kit.text_input(state, "question", words.question_label)
    if state["question"].strip() and not known_answer(state["story"], state["question"]):
        kit.text_input(state, "reply", words.reply_label, help=words.reply_help)
    if offers := list(askable(state["story"])):
        key = f"_{KEY}.asked"
        kit.suggest(words.askable, offers, take, key=key, format_func=kit.escape_markdown)

    with st.expander(words.story_label, icon=":material/edit_note:"):
        kit.text_area(state, "story", words.story_label, height=130, help=words.story_help)


@kit.cached(64)
def askable(story: str) -> dict[str, str]:
    """Return the questions that the grammar can answer about a story, with their answers."""
    return {task.question: task.answer for task in ask(story)}


def known_answer(story: str, question: str) -> str:
    """Return the right answer as the grammar knows it, or nothing."""
    known = {known_question.casefold(): answer for known_question, answer in askable(story).items()}
    return known.get(question.strip().casefold(), "")


def typed_answer(written: str) -> str:
    """Return a learner's answer without its full stop, which every reply gets."""
    return written.strip().rstrip(".").strip()


@kit.cached(64)
def encoded(bundled: engine.Bundled, task: Instruction) -> Example:
    """Return an example; ValueError for one that is longer than what a model is trained on."""
    tokens, most = tokens_of(bundled.tokenizer, task), bundled.model.context_length + 1
    if len(tokens) > most:
        raise ValueError(words.too_long.format(most=most, tokens=len(tokens)))
    return Example(*(tuple(part) for part in zip(*tokens, strict=True)))


@kit.cached(64)
def nats(bundled: engine.Bundled, task: Instruction) -> np.ndarray:
    """Return minus the log-probability of each token but the first, (T − 1,), in nats."""
    ids = encoded(bundled, task).ids
    logs = log_softmax(target_logits(bundled.model, list(ids)))
    return -logs[np.arange(len(ids) - 1), list(ids[1:])]


def _lanes(
    models: dict[str, engine.Bundled], task: Instruction, known: Example | None, *, opened: bool
) -> None:
    """Show what each model writes, and what that is; once it is told, of the trained one, too."""
    unknown, lines, chance = task.kind == "unknown", [], {}
    said = [words.verdicts["unknown"]] if unknown else []
    for name, bundled in models.items():
        if not opened and name != "base":
            lines.append(words.lane[name].format(text=words.waits))
            continue
        written = tuned_model.written(bundled, task.prompt, TOKENS)
        text = (written.text.strip() or words.nothing) + ("" if written.ended else " …")
        lines.append(words.lane[name].format(text=kit.quote(text, LINE)))
        if not unknown:
            said.append(words.verdict[name].format(verdict=verdict_of(written, task)))
        if known is not None:
            costs = nats(bundled, task)[np.array(known.counts[1:])]
            chance[name] = kit.percent(math.exp(-float(costs.sum())))
    if len(chance) == len(models):
        said.append(words.chances.format(answer=kit.quote(task.answer), **chance))
    kit.prose("\n\n".join([*lines, " ".join(said)]))


def verdict_of(continuation: Continuation, task: Instruction) -> str:
    """Return whether an answer is right: its first line is the reply, capitals or not."""
    text, reply = continuation.text.strip().casefold(), task.reply.strip().casefold()
    if text.split("\n")[0].strip() == reply:
        return words.verdicts["right"]
    cut_off = bool(text) and not continuation.ended and reply.startswith(text)
    kind = "goes_on" if text.startswith(reply) else "too_long" if cut_off else "wrong"
    if kind == "wrong" and task.answer.casefold() in text:
        kind = "names"
    return words.verdicts[kind].format(answer=kit.quote(task.answer))


def names_in(known: Example) -> list[str]:
    """Return how the tokens of an example are shown; the last one ends the text."""
    return [*kit.names_of(known.ids[:-1], tuned_model.base().tokenizer), words.end_token]


def mask_question(known: Example, task: Instruction) -> kit.Question | None:
    """Return the question where the loss begins to count: in the story, the question, the answer.

    The wrong answers are of somebody to whom a model learns from all that it reads, and of one to
    whom it also learns to ask. None where a part is empty. The values are where the parts begin.
    """
    asks = len(tuned_model.base().tokenizer.encode_from_start(task.story))
    right = known.counts.index(True)
    if not 1 < asks < right:
        return None
    reasons = {1: words.ask_all, asks: words.ask_asks, right: words.ask_right}

    def write(place: float) -> str:
        return words.ask_parts[sum(begin <= place for begin in (asks, right))]

    numbers = {"counted": sum(known.counts), "tokens": len(known.ids)}
    return kit.Question.among(words.ask, reasons, right, write, scale=True, **numbers)


def _strip(task: Instruction, guess: kit.Guess, *, opened: bool) -> None:
    """Show the example as it is trained on; a click before it is told is the guess."""
    key = f"{KEY}.strip"

    def clicked() -> None:
        match st.session_state[key].get("selected"):
            case [_, int(at)] if guess.asks and guess.question:
                begins = [begin for (begin,) in guess.question.values]
                guess.settle([max(begin for begin in begins if begin <= max(1, at))])

    row = strip(task, *both().values())
    if not opened:
        row = dataclasses.replace(row, values=None, details=None, role="residual")
    look: dict[str, Any] = {
        "value_label": words.counts,
        "value_range": (0.0, 1.0),
        "show_ids": False,
    }
    row = dataclasses.replace(row, ghost=guess.missed)
    token_strip([row], key=key, on_change=clicked, **look)


@kit.cached(32)
def strip(task: Instruction, *models: engine.Bundled) -> TokenRow:
    """Return the example as chips: which the loss counts, and what each costs the models."""
    known = encoded(models[0], task)
    costs = [nats(bundled, task) for bundled in models]
    details: list[dict[str, str]] = [{}]
    for pair in zip(*costs, strict=True):
        details.append({words.lanes[n]: f"{x:.3f}" for n, x in zip(words.lanes, pair, strict=True)})
    return row_of(known.ids, names_in(known), list(map(float, known.counts)), details)


def _costs(
    models: dict[str, engine.Bundled], task: Instruction, known: Example
) -> dict[str, object]:
    """Show what each counted token costs both models; return what was seen."""
    kit.section(words.mask)
    costs = {name: nats(bundled, task) for name, bundled in models.items()}
    counted = [at for at, counts in enumerate(known.counts) if counts]
    cases = [
        kit.Case([(name, True), (words.detail_row[which], False)], cost[at - 1], role=role)
        for at, name in ((at, names_in(known)[at]) for at in counted)
        for (which, cost), role in zip(costs.items(), ("query", "value"), strict=True)
    ]
    most = max(1.0, *(case.value or 0 for case in cases))
    axis = kit.Axis(0, most, words.nats_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.costs", form="figure")
    mask = np.array(known.counts[1:])
    before, after = (cost[mask].mean() for cost in costs.values())
    losses = {"base": before, "tuned": after, "all_tuned": costs["tuned"].mean()}
    numbers = {name: f"{loss:.2f}" for name, loss in losses.items()}
    kit.prose(words.mean, **numbers)
    if len(task.prompt) <= kit.IN_SNIPPET:
        given = {"story": task.story, "question": task.question, "answer": task.answer}
        kit.show_code(
            [tokens_of, masked_batch, load_adapter],
            words.snippet.format(name=BASE, tuning=MIXED, **given),
            f"{len(counted)} {before:.2f} {after:.2f}",
        )
    return {"tokens": len(known.ids), "counted": len(counted), **numbers}


def _forgotten() -> dict[str, str] | None:
    """Show what fine-tuning did to plain stories; return it in words."""
    kit.section(words.forgot_section, count=STORIES)
    losses = kit.or_refused(lambda: measured(tuned_model.base()))
    if losses is None:
        return None
    cases = [
        kit.Case(words.bars[name], float(nats.mean()), dots=nats.tolist())
        for name, nats in losses.items()
    ]
    most = max(max(case.dots) for case in cases)
    axis, look = kit.Axis(0, most, words.nats_axis), f"{KEY}.forgot"
    kit.case_rows(cases, axis, key=look, mark="dot", form="figure")
    kit.prose(report(losses["base"], losses[MIXED]))
    if ALONE in losses:
        rights = {name: kit.percent(tuned_card(name)["right"]) for name in (MIXED, ALONE)}
        share = kit.percent(TUNINGS[MIXED].plan.mix)
        kit.prose(words.mix, share=share, mixed=rights[MIXED], alone=rights[ALONE])
    return {"change": changed(losses["base"], losses[MIXED])}


@kit.cached(2)
def measured(bundled: engine.Bundled) -> dict[str, np.ndarray]:
    """Return the loss of each story in nats per token, (STORIES,), under each model that is here.

    ValueError where the adapter is not here or does not fit.
    """
    models = {"base": bundled, MIXED: tuned_model.tuned(MIXED)}
    with contextlib.suppress(ValueError):  # that one need not be here
        models[ALONE] = tuned_model.tuned(ALONE)
    stories = [story.text for story in generate(count=STORIES, seed=SEED)]

    def losses(model: LanguageModel) -> np.ndarray:
        told = [evaluate_documents(model, bundled.tokenizer, [story]) for story in stories]
        return np.array([loss.per_token for loss in told])

    return {name: losses(each.model) for name, each in models.items()}


def changed(before: np.ndarray, after: np.ndarray) -> str:
    """Return how far a mean loss rises, or falls."""
    base, mixed = float(before.mean()), float(after.mean())
    kind = "same" if abs(mixed - base) < LIKE else "more" if mixed > base else "less"
    return words.changes[kind].format(share=kit.percent(abs(mixed / base - 1)))


def report(before: np.ndarray, after: np.ndarray) -> str:
    """Return how the losses of stories changed, in a sentence."""
    worse = int((after > before).sum())
    return words.forgot.format(change=changed(before, after), worse=worse, count=len(before))
