"""Two more tasks that are answered in the same three ways: a ball that is handed on, and sums."""

import plotly.graph_objects as go

from llmviz.course.lessons.reasoning.chain_of_thought import words
from llmviz.course.lessons.reasoning.chain_of_thought.lengths import KEY, chart, each, together
from llmviz.course.lessons.reasoning.chain_of_thought.model import (
    LENGTHS,
    STEPS,
    TASKS,
    TESTS,
    TRAINED,
    recorded,
)
from llmviz.course.lessons.reasoning.parity_texts import DIRECT, DOTS, PATH, WAYS
from llmviz.course.lessons.reasoning.think_first import Share
from llmviz.course.ui import kit

EXAMPLES = {"ball": (1, 8, 4), "sums": (7, 5, 9)}


def draw(state: kit.PageState) -> bool:
    """Show both tasks; return whether the answer of the chosen one lies open."""
    kit.section(words.tasks, steps=STEPS, trained=TRAINED)
    kit.choose(state, "thinktask", words.task, words.task_names)
    task = state["thinktask"]
    kit.prose(words.task_rules[task])
    kit.rows_table(examples(task), words.example_columns)
    opened = kit.predict(question(task), f"{KEY}.{task}", covers=True)
    if opened:
        kit.prose(words.task_lengths, tests=TESTS)
        kit.chart(figure(task, kit.theme()), f"{KEY}.tasks", bar=False)
        kit.prose(read(task))
        kit.show_code(
            [recorded],
            "from llmviz.course.lessons.reasoning.chain_of_thought.model import recorded\n\n"
            f"models = recorded()[{task!r}, {PATH!r}]\n"
            f"print([one.right[{TRAINED}].value for one in models])",
            str([share.value for share in shares(task, PATH)]),
        )
    return opened


def examples(name: str) -> list[tuple[str, ...]]:
    """Return one text of a task in each way: what is given, and what is learned."""
    given, path = TASKS[name].said(EXAMPLES[name])
    steps = path.split()
    between = {DIRECT: "", DOTS: " ".join("." * len(steps)) + " ", PATH: f"{path} "}
    return [(words.ways[way], f"{given} =", f"{between[way]}: {steps[-1]}") for way in WAYS]


def shares(task: str, way: str, length: int = TRAINED) -> list[Share]:
    """Return the right answers of a task's models, one after the other."""
    return [model.right[length] for model in recorded()[task, way]]


def percent(task: str, way: str, length: int = TRAINED) -> str:
    """Return the share of right answers of a task's models together."""
    return kit.percent(together(shares(task, way, length)).value)


def question(task: str) -> kit.Question:
    """Return the question how often an answer at once is right."""
    found = each(shares(task, DIRECT))
    return kit.share_question(
        words.ask_task.format(path=percent(task, PATH), trained=TRAINED),
        together(shares(task, DIRECT)).value,
        [reason.format(each=found) for reason in words.ask_task_reasons],
        kit.percent,
    )


@kit.kept(4)
def figure(task: str, mode: kit.Mode) -> go.Figure:
    """Return right answers by number of items."""
    found = {way: [shares(task, way, n) for n in LENGTHS] for way in WAYS}
    return chart(found, LENGTHS, words.task_axis, mode, ticks=[n for n in LENGTHS if n != 11])


def read(task: str) -> str:
    """Return what the steps add, model by model, and what becomes of it beyond the training."""
    values = {way: [share.value for share in shares(task, way)] for way in WAYS}
    more = min(values[PATH]) > max(values[DIRECT])
    fewer = max(values[PATH]) < min(values[DIRECT])
    beyond = [n for n in LENGTHS if n > TRAINED]
    return words.task_read["more" if more else "fewer" if fewer else "same"].format(
        trained=TRAINED,
        **{way: each(shares(task, way)) for way in WAYS},
        lengths=kit.listed([*map(str, beyond)]),
        outside=each([together(shares(task, PATH, n)) for n in beyond]),
    )
