"""Several texts to one prompt: which share a block, and how many blocks that saves."""

from llmviz.course.components.serving_film.view import serving_film
from llmviz.course.lessons.efficiency.serving import figures, questions, words
from llmviz.course.lessons.efficiency.serving.params import OPENING
from llmviz.course.lessons.efficiency.serving.runs import TwoRuns, texts_shown
from llmviz.course.lessons.efficiency.serving.serving_texts import COMMAND, WAYS, blocks_at_once
from llmviz.course.ui import kit

KEY = "efficiency.serving.ways"


def draw(state: kit.PageState, two_runs: TwoRuns | None) -> None:
    """Show a recorded run of one prompt, then what was shared in the runs shown above."""
    kit.section(words.samples_section)
    try:
        about, recorded = texts_shown()
    except ValueError:
        kit.inform(words.no_file, ":material/download:")
    else:
        kit.choose(state, "serveways", words.ways, words.kinds)
        number = WAYS.index(state["serveways"])
        date, torch = about.date, about.environment["torch"]
        source = words.ways_bundled.format(date=date, torch=torch, command=COMMAND)
        live = "" if two_runs is None else figures.shared_line(two_runs, int(state["serveshown"]))
        kit.prose(f"{source} {saved_line(recorded, number)}\n\n{live}")
        _film(state, recorded, number)
    if two_runs is None:
        return
    number = int(state["serveshown"])
    config = two_runs.runs[number].recording.config
    samples = max(2, two_runs.trial.workload.samples)
    prompt = max(len(request.prompt) for request in two_runs.runs[number].recording.requests)
    kit.predict(
        questions.blocks_of_samples(prompt, samples, config.block_size),
        "efficiency.serving.samples",
    )


def saved_line(two_runs: TwoRuns, number: int) -> str:
    """Return how many blocks sharing saves in a run, in a sentence."""
    recording = two_runs.runs[number].recording
    named, held = blocks_at_once(recording)
    return words.ways_saved.format(
        named=kit.count(named, "block"),
        held=f"{held:,}",
        saved=kit.count(named - held, "block"),
        share=kit.percent((named - held) / max(1, named)),
        copied=kit.count(sum(len(tick.copies) for tick in recording.ticks), "block"),
    )


def _film(state: kit.PageState, two_runs: TwoRuns, number: int) -> None:
    key = f"{KEY}.{WAYS[number]}"
    tick, _ = two_runs.openings[number]
    serving_film(
        two_runs.pictures[number],
        key=key,
        step=tick if state["servewaystick"] == OPENING else state["servewaystick"],
        chosen=state["servewaystext"],
        on_change=kit.bound(state, key, step="servewaystick", chosen="servewaystext"),
    )
