"""The code of the chapter: a schedule that needs no model, printed tick by tick."""

from llmviz.course.lessons.efficiency.serving import words
from llmviz.course.ui import kit
from llmviz.serving import BlockManager, Request, Scheduler, ServingConfig, simulate


def printed(policy: str) -> str:
    """Return what the snippet prints."""
    config = ServingConfig(policy=policy, max_batch=2, block_size=4, n_blocks=8)
    requests = [
        Request("a", prompt=(1, 2, 3, 4, 5), max_new_tokens=3),
        Request("b", prompt=(6, 7), max_new_tokens=6),
        Request("c", prompt=(8, 9, 10), max_new_tokens=2),
    ]
    lines = []
    for tick in simulate(requests, config).ticks:
        rows = ", ".join(f"{row.sequence} {row.phase} {row.tokens}" for row in tick.rows)
        waits = " ".join(tick.queue) or "-"
        lines.append(f"{tick.number}: {rows}; waits: {waits}; {tick.waste} slots empty")
    return "\n".join(lines)


def code(policy: str) -> None:
    """Show the schedule of three requests under a policy."""
    kit.show_code(
        (Scheduler.schedule, BlockManager.own_copy, BlockManager.find),
        words.snippet.format(policy=policy),
        lambda: printed(policy),
        label=words.code_label,
    )
