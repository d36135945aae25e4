"""Two runs of the same requests side by side: what people and the machine's owner notice."""

from collections.abc import Callable

import numpy as np

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.serving import words
from llmviz.course.lessons.efficiency.serving.runs import TwoRuns
from llmviz.course.ui import kit
from llmviz.serving.recording import PERCENTILES, Recording


def run_names(policies: tuple[str, str]) -> tuple[str, str]:
    """Return how two runs are called: by their policies, numbered where these are the same."""
    first, second = (words.policies[policy] for policy in policies)
    if first != second:
        return first, second
    numbered = (words.same_run.format(policy=first, number=number) for number in (1, 2))
    return tuple(numbered)


def names_of(two_runs: TwoRuns) -> tuple[str, str]:
    """Return how both runs shown are called."""
    return run_names(two_runs.trial.policies)


def measures(recording: Recording) -> dict[str, str]:
    """Return each figure of a run, as it is written, by its title, which names its unit."""
    first, each = recording.to_first, recording.per_token
    preempted = sum(len(tick.preempted) + len(tick.swapped_out) for tick in recording.ticks)
    entries: list[tuple[str, dict[str, int], float | None, Callable[[float], str]]] = [
        ("seconds", {}, recording.seconds, "{:.3f}".format),
        ("tokens", {}, recording.tokens, "{:,.0f}".format),
        ("throughput", {}, recording.tokens_per_second, "{:,.0f}".format),
    ]
    for name, milliseconds in (("first", first), ("each", each)):
        for p in PERCENTILES:
            value = None if p not in milliseconds else 1000 * milliseconds[p]
            entries.append((name, {"p": p}, value, "{:,.1f}".format))
    entries += [
        ("padding", {}, recording.padding, "{:,.0f}".format),
        ("waste", {}, 100 * recording.waste_share, "{:.1f}".format),
        ("preempted", {}, preempted, "{:,.0f}".format),
        ("scheduling", {}, 100 * recording.scheduling_share, "{:.1f}".format),
    ]
    table = {}
    for name, filled, value, write in entries:
        table[words.figures[name].format(**filled)] = words.none if value is None else write(value)
    return table


@kit.kept(16)
def table_of(two_runs: TwoRuns) -> tuple[tuple[str, ...], ...]:
    """Return the rows of the table: a title and both runs' figures."""
    first, second = (measures(run.recording) for run in two_runs.runs)
    return tuple((title, first[title], second[title]) for title in first)


def compared(two_runs: TwoRuns) -> str:
    """Return which run wrote more tokens a second, in a sentence."""
    rate, other = (run.recording.tokens_per_second for run in two_runs.runs)
    names = names_of(two_runs)
    if round(rate) == round(other):
        return words.alike.format(one=rate)
    if not min(rate, other):
        return ""
    winner = names[0] if rate > other else names[1]
    ratio = max(rate, other) / min(rate, other)
    if f"{ratio:.2f}" == "1.00":
        return words.alike.format(one=(rate + other) / 2)
    return words.faster.format(
        first=names[0], one=rate, second=names[1], other=other, ratio=ratio, winner=winner
    )


@kit.kept(32)
def first_tokens(two_runs: TwoRuns, mode: kit.Mode) -> kit.Figure:
    """Return the share of texts that had their first token after so many milliseconds."""
    drawn = []
    for number, (name, run) in enumerate(zip(names_of(two_runs), two_runs.runs, strict=True)):
        times = np.sort([1000 * timing.to_first for timing in run.recording.timings])
        shares = 100 * np.arange(1, len(times) + 1) / max(1, len(times))
        drawn.append(Line(name, times, shares, number))
    figure = lines(drawn, words.curve_axes, mode, hover="%{y:.0f} %", height=300)
    return figure.update_traces(line_shape="hv")  # between two texts the share does not change


def who_waits_less(two_runs: TwoRuns) -> kit.Question | None:
    """Ask which policy gives first tokens sooner; None where the runs do not tell."""
    middle = [run.recording.to_first.get(50) for run in two_runs.runs]
    if None in middle or two_runs.trial.policies[0] == two_runs.trial.policies[1]:
        return None
    time, other = (round(1000 * seconds, 1) for seconds in middle)
    names = names_of(two_runs)
    right = 2 if time == other else 0 if time < other else 1
    reason = words.who_reason.format(first=names[0], one=time, second=names[1], other=other)
    return kit.Question(words.who, (*names, words.who_equal), right, (reason,) * 3)


@kit.kept(16)
def most_shared(two_runs: TwoRuns, number: int) -> tuple[int, int]:
    """Return how many blocks were shared at once at most, and how many were copied in all."""
    ticks = two_runs.runs[number].recording.ticks
    most = max((sum(len(texts) > 1 for texts in tick.owners.values()) for tick in ticks), default=0)
    return most, sum(len(tick.copies) for tick in ticks)


def shared_line(two_runs: TwoRuns, number: int) -> str:
    """Return how much was shared in a run, in a sentence."""
    most, copies = most_shared(two_runs, number)
    return words.samples_live.format(
        policy=names_of(two_runs)[number],
        most=kit.count(most, "block"),
        copies=kit.count(copies, "block"),
    )


def end(two_runs: TwoRuns, number: int) -> dict[str, object] | None:
    """Return the numbers that the chapter ends with; None for a run that computed nothing."""
    recording = two_runs.runs[number].recording
    ticks = len(recording.ticks)
    if not ticks:
        return None
    return {
        "policy": names_of(two_runs)[number],
        "texts": kit.count(len(recording.timings), "text"),
        "ticks": kit.count(ticks, "tick"),
        "tokens": kit.count(recording.tokens, "token"),
        "each": recording.tokens / ticks,
    }
