"""The template token by token, which tokens the loss counts, and the loss from them."""

import dataclasses

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.finetuning import tuned_model
from llmviz.course.lessons.finetuning.chips import row_of
from llmviz.course.lessons.finetuning.instructions import words
from llmviz.course.lessons.finetuning.instructions.model import Example, losses_of
from llmviz.course.lessons.finetuning.instructions.side_by_side import (
    TUNING,
    answer,
    both,
    encoded,
    nats,
)
from llmviz.course.ui import engine, kit
from llmviz.finetuning.adapters import load_adapter
from llmviz.finetuning.instructions import Instruction, tokens_of
from llmviz.finetuning.masked import masked_batch
from llmviz.finetuning.plan import BASE

SHOWN_TERMS = 6  # of a sum


def draw(task: Instruction) -> dict[str, str] | None:
    """Show an example as it is trained on; without a known answer, that of the tuned model.

    Returns what was seen, once asked.

    Raises ValueError for an example that is too long to be trained on.
    """
    kit.section(words.mask)
    models = both()
    if not task.answer:
        written = answer(models["tuned"], task.prompt).text.strip().split("\n")[0]
        task = dataclasses.replace(task, answer=written.removesuffix("."))
    known = encoded(models["base"], task)
    question = count_question(known)
    if question is not None and not kit.predict(
        question, "finetuning.instructions.mask", covers=True
    ):
        return None
    token_strip(
        [strip(task, *models.values())],
        key="finetuning.instructions.strip",
        show_ids=False,
        value_label=words.counts,
        value_range=(0.0, 1.0),
    )
    base, tuned = (nats(bundled, task) for bundled in models.values())
    places = [place for place, counted in enumerate(known.counts[1:]) if counted]
    names = [name for name, counts in zip(names_in(known), known.counts, strict=True) if counts]
    columns = (names, *([f"{cost[place]:.3f}" for place in places] for cost in (base, tuned)))
    rows = dict(zip(words.table, columns, strict=True))
    kit.columns_table(rows, height="content", width=420)
    before, after = losses_of(base, known), losses_of(tuned, known)
    kit.prose(
        words.mean,
        base_sum=written_sum(columns[1]),
        count=len(places),
        base=f"{before[0]:.3f}",
        tuned=f"{after[0]:.3f}",
        places=len(base),
        base_all=f"{before[1]:.3f}",
        tuned_all=f"{after[1]:.3f}",
        share=kit.percent(1 - len(places) / len(base)),
    )
    if len(task.prompt) <= kit.IN_SNIPPET:
        given = {"story": task.story, "question": task.question, "answer": task.answer}
        kit.show_code(
            [tokens_of, masked_batch, load_adapter],
            words.snippet.format(name=BASE, tuning=TUNING, **given),
            f"{len(places)} {before[0]:.2f} {after[0]:.2f}",
        )
    return {
        "tokens": f"{len(known.ids):,}",
        "counted": f"{len(places):,}",
        "base": f"{before[0]:.3f}",
        "tuned": f"{after[0]:.3f}",
    }


def written_sum(terms: list[str]) -> str:
    """Return the terms of a sum, with dots where there are many.

    >>> written_sum(["1.0", "2.0"]), written_sum([str(n) for n in range(9)])
    ('1.0 + 2.0', '0 + 1 + 2 + 3 + … + 8')
    """
    if len(terms) > SHOWN_TERMS:
        terms = [*terms[: SHOWN_TERMS - 2], "…", terms[-1]]
    return " + ".join(terms)


@kit.kept(32)
def strip(task: Instruction, *models: engine.Bundled) -> TokenRow:
    """Return the example as chips, with what each token is to the loss."""
    known = encoded(models[0], task)
    base, tuned = (nats(bundled, task) for bundled in models)
    details = []
    for place, counts in enumerate(known.counts):
        about = {words.detail["place"]: f"{place + 1} of {len(known.ids)}"}
        if place:
            about[words.detail["target"]] = words.detail["counted" if counts else "ignored"]
            about[words.detail["base"]] = f"{base[place - 1]:.3f}"
            about[words.detail["tuned"]] = f"{tuned[place - 1]:.3f}"
        else:
            about[words.detail["target"]] = words.detail["first"]
        details.append(about)
    return row_of(known.ids, names_in(known), list(map(float, known.counts)), details)


def names_in(known: Example) -> list[str]:
    """Return how the tokens of an example are shown; the last one ends the text."""
    return [*kit.names_of(known.ids[:-1], tuned_model.base().tokenizer), words.end_token]


def count_question(known: Example) -> kit.Question | None:
    """Return how many tokens the loss counts, as a question; None for equal answers."""
    counted, tokens = sum(known.counts), len(known.ids)
    wrong = {"answer": counted - 1, "prompt": tokens - counted, "all": tokens}
    if len({counted, *wrong.values()}) < 1 + len(wrong):
        return None
    slots = {"tokens": tokens, "answer": counted - 1}
    reasons = {number: words.mask_wrong[key] for key, number in wrong.items()}
    reasons[counted] = words.mask_right
    return kit.Question.among(words.mask_question, reasons, counted, **slots)
