"""The run that the chapter shows: the bundled one, or the learner's own in the background."""

from llmviz.course.lessons.efficiency.parallel import words
from llmviz.course.ui import kit
from llmviz.parallel.outcome import Outcome, Progress
from llmviz.parallel.plan import PIPELINES, ParallelPlan
from llmviz.parallel.recording import recorded

Settings = tuple[str, int, int]  # method, processes, micro-batches


def given(state: kit.PageState) -> Settings:
    """Return what makes a run; only pipelines have micro-batches to choose."""
    micro = int(state["micro"]) if state["split"] in PIPELINES else ParallelPlan().micro_batches
    return state["split"], int(state["processes"]), micro


def plan_of(settings: Settings) -> ParallelPlan:
    """Return the plan of a run."""
    method, processes, micro = settings
    return ParallelPlan(method, processes, micro_batches=micro)


def micro_options(method: str, processes: int) -> list[str]:
    """Return the numbers of micro-batches with which a pipeline is recorded."""
    numbers = {
        plan.micro_batches
        for plan in recorded()
        if (plan.method, plan.processes) == (method, processes)
    }
    return [str(number) for number in sorted(numbers)]


@kit.kept(12)
def job_of(*settings: str | int) -> kit.Job:
    """Return a run in processes of its own; the same one is run only once."""
    return kit.training_jobs().start("llmviz.parallel.launch:run", plan=plan_of(settings))


def outcome_of(state: kit.PageState) -> tuple[Outcome, bool]:
    """Return the run to show, and whether it is the learner's own.

    Raises ValueError where the bundled ones cannot be read.
    """
    settings = given(state)
    if state["runhere"]:
        job = kit.job_for(state, "runhere", job_of, settings)
        outcomes = [result for result in list(job.results) if isinstance(result, Outcome)]
        if job.over and outcomes:
            return outcomes[-1], True
    return recorded()[plan_of(settings)], False


def draw(state: kit.PageState) -> None:
    """Show the button, and how far the run is."""
    settings = given(state)
    steps = plan_of(settings).steps

    def share(job: kit.Job) -> float:
        return len(job.results) / (steps + 1)

    def report(job: kit.Job) -> None:
        steps_done = [result for result in list(job.results) if isinstance(result, Progress)]
        if job.over and any(isinstance(result, Outcome) for result in job.results):
            kit.prose(words.done)
        elif steps_done:
            last = steps_done[-1]
            kit.prose(words.so_far, step=last.step, steps=steps, loss=last.loss)

    kit.live(
        state,
        "runhere",
        job_of,
        settings,
        report,
        start=words.run,
        share=share,
        said=kit.Said(
            words.runs.format(processes=settings[1]), words.stopped, words.again, repeats=True
        ),
    )
