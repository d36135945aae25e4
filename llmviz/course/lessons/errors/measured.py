"""What was measured of each model on held-out stories: bundled, or by the learner for a run."""

from collections.abc import Callable

from llmviz.course.document import Document
from llmviz.course.lessons.errors.model_errors import STORIES, TO_FIT, ModelErrors, recorded
from llmviz.course.ui import engine, kit

TARGET = "llmviz.course.lessons.errors.model_errors:measure_named"


def known_errors() -> dict[str, ModelErrors]:
    """Return what was measured of the bundled models; nothing, after a line, where it is absent."""
    try:
        return recorded()
    except ValueError as error:
        kit.refuse(error)
        return {}


@kit.cached(16)
def _job(bundled: engine.Bundled) -> kit.Job:
    return kit.map_jobs().start(TARGET, name=bundled.name)


def measure_live(
    state: kit.PageState,
    flag: str,
    bundled: engine.Bundled,
    results: Callable[[kit.Job], None],
    words: Document,
) -> None:
    """Show the button that measures a model, in a process of its own, and what comes of it."""
    every = STORIES + TO_FIT

    def share(job: kit.Job) -> float:
        last = job.results[-1] if job.results else 0
        return 1.0 if isinstance(last, ModelErrors) else last / every

    kit.live(
        state,
        flag,
        _job,
        (bundled,),
        results,
        start=words.measure,
        share=share,
        said=kit.JobWords(words.going, words.stopped, words.again_measure),
    )
