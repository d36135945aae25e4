"""The furniture of the lessons under one name, as chapters use it: `kit.section`, `kit.prose`.

What computes has its own modules, and so has what few lessons need. No module of `ui` imports this
one: it collects their names.
"""

# ruff: noqa: F401  (names that chapters take from here)
from typing import Any

from llmviz.course.components.case_rows.view import Axis, Case, case_rows
from llmviz.course.components.draw_on.view import Drawn, Scale, draw_on
from llmviz.course.document.languages import number as local
from llmviz.course.document.languages import run_on
from llmviz.course.document.values import FORMATS
from llmviz.course.figures.theme import Mode, bare_layout, category_style, role_color
from llmviz.course.ui.cached import cached, on_model, on_model_and_tokenizer
from llmviz.course.ui.code import fold, measured, programmers, show_code
from llmviz.course.ui.common import (
    IN_SNIPPET,
    LOOKED_AT,
    another,
    chapter_link,
    chart,
    choose,
    choose_below_title,
    controls,
    count,
    duration,
    head_link,
    keep,
    learner_text,
    listed,
    near_percent,
    operand,
    percent,
    plot,
    power_of_ten,
    raised,
    readable,
    roughly,
    rows_table,
    signed,
    suggest,
    theme,
    value_strip,
)
from llmviz.course.ui.contents import Lesson
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.get_model import REAL, offer_real_model
from llmviz.course.ui.guess import QUESTIONS, Guess
from llmviz.course.ui.hour import looks, rest
from llmviz.course.ui.job_pools import import_jobs, map_jobs, prepare_umap, training_jobs
from llmviz.course.ui.lesson import draw_part, section, seen
from llmviz.course.ui.live_job import (
    JobWords,
    begun,
    going_job,
    job_for,
    job_of,
    live,
    polled,
    watch_only,
)
from llmviz.course.ui.model_on_text import (
    Read,
    load_and_read,
    names_of,
    placed,
    read,
    read_ids,
    shown_bytes,
    spoken,
)
from llmviz.course.ui.model_picker import (
    MADE_FIRST,
    Picker,
    attends,
    bundled_models,
    continues,
    looked_into,
    losses,
    models_here,
    no_model,
    reads_text,
    run_again,
    tells_classes,
)
from llmviz.course.ui.notices import (
    AWAY_ICON,
    inform,
    is_here,
    or_refused,
    refuse,
    refuse_failed,
    warn,
)
from llmviz.course.ui.pinned_cells import (
    NONE,
    bound,
    chosen_link,
    link_of,
    one_of,
    or_first,
    place_of,
    second_of,
    show,
    windows_link,
)
from llmviz.course.ui.prose import bold, prose, quote
from llmviz.course.ui.question import Question, as_set, share_question, whole_percent
from llmviz.course.ui.real_case import real_case, real_look
from llmviz.course.ui.selectable_models import Card, bundled_fitting, card_of, label, load, offered
from llmviz.course.ui.shell import examples, live_text_box, text_box
from llmviz.course.ui.stage import source, stage
from llmviz.course.ui.state import LEARNER_TEXT, LINK_ICON, PageState, tied
from llmviz.course.ui.text import escape_markdown, escape_plotly, visible
from llmviz.course.ui.text_field import text_area, text_input
from llmviz.course.ui.translated_sentence import Sentence, read_sentence
from llmviz.processes.background import Job

FORMATS.update(percent=percent, whole=whole_percent, listed=listed)


def __getattr__(name: str) -> Any:
    """Return Plotly's `Figure`, which is imported when the first chapter with a chart names it."""
    if name != "Figure":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from plotly.graph_objects import Figure

    return Figure
