"""When each process works: a row of time for each, and the bubble of a pipeline."""

from collections.abc import Sequence

from llmviz.course.figures.parallel import Stretch, over_time
from llmviz.course.lessons.efficiency.parallel import words
from llmviz.course.ui import kit
from llmviz.parallel.formulas import bubble_share
from llmviz.parallel.outcome import COMPUTE, SEND, WAIT, Outcome, Span, idle_share, replayed
from llmviz.parallel.plan import PIPELINES

KEY = "efficiency.parallel.times"


def draw(outcome: Outcome, origin: str) -> None:
    """Show the time line and what it adds up to; origin: where the run is from."""
    kit.section(words.times)
    kit.chart(timeline(outcome, kit.theme()), KEY)
    kit.prose(f"{time_line(outcome)} {origin}")
    if outcome.plan.method in PIPELINES:
        kit.prose(words.bubble, measured=kit.percent(outcome.idle_share()))
        kit.chart(replayed_timeline(outcome, kit.theme()), f"{KEY}.replayed")
        kit.prose(replayed_line(outcome))


@kit.kept(48, key=lambda outcome, mode: (outcome.plan, outcome.seconds, mode))
def timeline(outcome: Outcome, mode: kit.Mode) -> kit.Figure:
    """Return the spans of all processes."""
    return _figure([process.spans for process in outcome.processes], mode)


@kit.kept(48, key=lambda outcome, mode: (outcome.plan, outcome.seconds, mode))
def replayed_timeline(outcome: Outcome, mode: kit.Mode) -> kit.Figure:
    """Return the step of a pipeline as it would be with a core for each process."""
    return _figure(replayed(outcome), mode)


def _figure(spans: Sequence[Sequence[Span]], mode: kit.Mode) -> kit.Figure:
    rows = [words.process.format(number=number + 1) for number in range(len(spans))]
    stretches = [stretch(row, span) for row, own in zip(rows, spans, strict=True) for span in own]
    return over_time(rows, stretches, words.time_kinds, words.time_axis, mode)


def stretch(row: str, span: Span) -> Stretch:
    """Return a span as it is drawn, in milliseconds."""
    kind = kind_of(span)
    what = {"send": words.sends, "wait": words.waits_for}.get(kind, "{label}")
    start, end = 1e3 * span.start, 1e3 * span.end
    text = words.stretch.format(what=what.format(label=span.label), time=end - start)
    return Stretch(row, kind, start, end, text)


def kind_of(span: Span) -> str:
    """Return the kind by which a span is coloured.

    >>> kind_of(Span(COMPUTE, "backward 2", 0, 1)), kind_of(Span(COMPUTE, "loss", 0, 1))
    ('backward', 'forward')
    """
    if span.kind != COMPUTE:
        return span.kind
    word = span.label.split(" ")[0]
    return word if word in ("backward", "update") else "forward"


def shares(outcome: Outcome) -> dict[str, float]:
    """Return the share of the time of all processes that each kind has; what is left is waiting."""
    whole = len(outcome.processes) * outcome.duration
    spent = {
        kind: sum(process.seconds(kind) for process in outcome.processes) / whole
        for kind in (COMPUTE, SEND)
    }
    return spent | {WAIT: max(0.0, 1 - sum(spent.values()))}


def time_line(outcome: Outcome) -> str:
    """Return the sentence about how long the step took, and what the time went into."""
    return words.step_time.format(
        step=1e3 * min(outcome.seconds),
        alone=1e3 * min(outcome.alone_seconds),
        **{kind: kit.percent(share) for kind, share in shares(outcome).items()},
    )


def replayed_line(outcome: Outcome) -> str:
    """Return the sentence about the bubble of the replayed step, and by formula."""
    plan = outcome.plan
    return words.replayed.format(
        replayed=kit.percent(idle_share(replayed(outcome))),
        processes=plan.processes,
        micro=plan.micro_batches,
        parts=words.micro_batches[plan.micro_batches > 1],
        formula=kit.percent(bubble_share(plan.processes, plan.micro_batches)),
    )
