"""The code behind a way to share, and a snippet that computes its bytes."""

from collections.abc import Callable

from llmviz.course.lessons.efficiency.parallel import words
from llmviz.course.ui import kit
from llmviz.parallel.formulas import bubble_share, sent_per_step
from llmviz.parallel.plan import PIPELINES, ParallelPlan


def draw(plan: ParallelPlan) -> None:
    """Show the code that ran in each process, and the formula."""
    text = words.snippet.format(
        method=plan.method, processes=plan.processes, micro=plan.micro_batches
    )
    if plan.method in PIPELINES:
        text += f"\n\n{words.snippet_bubble.format()}"
    kit.show_code([*_parts(plan.method), sent_per_step], text, lambda: printed(plan))


def printed(plan: ParallelPlan) -> str:
    """Return what the snippet prints."""
    lines = [
        str({name: round(number) for name, number in sent_per_step(plan, rank).items()})
        for rank in range(plan.processes)
    ]
    if plan.method in PIPELINES:
        lines.append(f"{bubble_share(plan.processes, plan.micro_batches):.3f}")
    return "\n".join(lines)


def _parts(method: str) -> list[Callable | type]:
    """The classes and functions in which a way differs; the parts of a step, where it has them."""
    from llmviz.parallel.way import Way

    shared = [Way.backward, Way.update]
    if method in ("zero1", "zero2"):
        from llmviz.parallel.zero import FlatShards, FlatUnit

        return [FlatShards, FlatUnit, *shared]
    if method == "zero3":
        from llmviz.parallel.fully_sharded import FullyShards

        return [FullyShards, *shared]
    if method == "tensor":
        from llmviz.parallel.tensor import ColumnLinear, RowLinear, split_attention

        return [ColumnLinear, RowLinear, split_attention]
    if method in PIPELINES:
        from llmviz.parallel.layers import Layers

        return [Layers]
    if method == "experts":
        from llmviz.parallel.experts import SpreadExperts

        return [SpreadExperts]
    from llmviz.parallel.data import DataParallel, average

    return [DataParallel, average, *shared]
