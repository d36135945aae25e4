"""What is sent: counted, by formula, and by the operating system's own count."""

from llmviz.course.lessons.efficiency.parallel import words
from llmviz.course.lessons.efficiency.parallel.amounts import bytes_text
from llmviz.course.ui import kit
from llmviz.parallel.formulas import sent_per_step
from llmviz.parallel.outcome import Outcome
from llmviz.parallel.plan import ParallelPlan

SAME_WORDS = {"zero2": "zero1", "1f1b": "gpipe"}
MUCH = 1.2  # times what was counted, from which on the library does something else


def draw(outcome: Outcome) -> None:
    """Show the table of all processes, and what the library does in another way."""
    method = outcome.plan.method
    kit.section(words.sent.title, words.sent_text[SAME_WORDS.get(method, method)])
    kit.rows_table(rows_of(outcome), words.sent_columns)
    known = outcome.processes[0].kernel is not None
    source = words.from_routes if method == "experts" else words.from_settings
    note = words.sent_note.format(formula=source)
    note = note if known else f"{note} {words.no_sockets}"
    kit.prose("\n\n".join(filter(None, (note, library_line(outcome)))))


def formula_of(plan: ParallelPlan, outcome: Outcome, rank: int) -> dict[str, float]:
    """Return the bytes of a process by formula; with experts, for the rows that really left it."""
    elsewhere = outcome.processes[rank].elsewhere if plan.method == "experts" else None
    return sent_per_step(plan, rank, elsewhere)


def rows_of(outcome: Outcome) -> list[tuple[str, str, str, str, str, str]]:
    """Return the rows of the table: a row for each process and operation."""
    rows = []
    for rank, process in enumerate(outcome.processes):
        formula = formula_of(outcome.plan, outcome, rank)
        sockets = "" if process.kernel is None else f"{process.kernel:,.0f}"
        for name, (times, number) in process.sent.items():
            rows.append(
                (
                    words.process.format(number=rank + 1),
                    words.operations[name],
                    f"{times:g}",
                    f"{number:,.0f}",
                    f"{formula[name]:,.0f}",
                    sockets,
                )
            )
            sockets = ""  # it is that of the process, not of the operation
    return rows


def library_line(outcome: Outcome) -> str:
    """Return the sentence about a library that sends more than a ring; empty where it does not."""
    first = outcome.processes[0]
    halves = first.sent.get("reduce_scatter")
    if halves is None or first.kernel is None or first.kernel < MUCH * first.bytes_sent:
        return ""
    return words.gloo.format(
        times=first.kernel / first.bytes_sent,
        double=bytes_text(first.bytes_sent + halves[1]),
        sockets=bytes_text(first.kernel),
    )
