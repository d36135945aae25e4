"""When each kind of model came, what it needed, and what it measures here."""

from llmviz.course.lessons.history.all import words
from llmviz.course.lessons.history.all.nine import measures
from llmviz.course.ui import kit

MODELS_OF = {
    "1913": ("counted-pairs", "names-bigram"),
    "1990": ("names-rnn",),
    "1995": ("counted-fours",),
    "1997": ("names-lstm",),
    "2003": ("names-mlp",),
    "2014": ("names-gru",),
    "2016": ("names-wavenet",),
    "2018": ("names-gpt",),
}  # by the year of the event


def draw(state: kit.PageState) -> None:
    """Show the events in their order."""
    kit.section(words.when)
    kit.prose("\n\n".join(events()))


def events() -> list[str]:
    """Return a paragraph for each event, with the losses that the models have here."""
    losses = {model.key: model.loss for model in measures()}
    lines = []
    for year, (what, needed, source) in words.events.items():
        measured = ", ".join(
            words.here_one.format(model=words.models[key], loss=losses[key])
            for key in MODELS_OF.get(year, ())
        )
        here = words.here.format(measured=measured) if measured else ""
        lines.append(
            words.event.format(year=year, what=what, needed=needed, source=source, here=here)
        )
    return lines
