"""The page of the models: their sizes to scale, published ones to import, a list of all."""

from llmviz.course.lessons.models import importing, model_list, words
from llmviz.course.lessons.models.gpt2_sizes import SizeRow, gpt2_sizes
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.course.ui.own_machine import may_import
from llmviz.course.ui.sizes import size
from llmviz.obtainable.catalogue import OBTAINABLE

DRAWN = 6  # of the models that are here, the largest


def ahead() -> None:
    """Count GPT-2's sizes before the first visitor asks."""
    sizes()


sizes = kit.cached(1)(gpt2_sizes)


def draw(state: kit.PageState) -> None:
    """Show how large the models are, and what can be done with them."""
    kit.prose(words.hook)
    if not engine_ready():
        return
    stage = kit.stage("models")
    kit.offer_real_model("models.real")
    if kit.REAL in engine.obtained():
        kit.prose(words.real, **vars(OBTAINABLE[kit.REAL]))
    allowed = own = False
    try:
        allowed, own = may_import()
    except ValueError as rule:
        kit.refuse(rule)
    kit.section(words.intro)
    if allowed:
        importing.draw(state, own=own)
    else:
        kit.inform(words.not_here, ":material/lock:")
    models = model_list.listed()  # with what was just imported
    with stage:
        _scale(models)
    model_list.draw(models, own=own)
    kit.section(words.offline)
    _code(sizes()[0])


def _scale(models: list[model_list.Model]) -> None:
    """Show the largest models that are here, and GPT-2's four sizes, by powers of ten."""
    here = sorted(models, key=lambda model: -model.parameters)[:DRAWN]
    cases = [kit.Case(kit.label(model.name), model.parameters) for model in here[::-1]]
    cases += [
        kit.Case(words.published.format(name=row.name), row.parameters, role="residual")
        for row in sizes()
    ]
    axis = kit.Axis(1e3, 1e10, words.axis, log=True)
    kit.case_rows(cases, axis, key="models.scale", form="count")
    row = sizes()[-1]
    kit.prose(words.caption, name=row.name, kept=size(row.weights["bfloat16"]))


def _code(row: SizeRow) -> None:
    kit.show_code([gpt2_sizes], words.snippet.format(name=row.name), f"{row.parameters}")
