"""What lies where: each process's weights, gradients and state, and all ways beside each other."""

from functools import lru_cache

from llmviz.course.figures.parallel import Segment, held, lying
from llmviz.course.lessons.efficiency.parallel import words
from llmviz.course.lessons.efficiency.parallel.amounts import bytes_text
from llmviz.course.ui import kit
from llmviz.models.arithmetic import count, tensors
from llmviz.parallel.outcome import KINDS, Outcome, Piece
from llmviz.parallel.plan import BYTES_EACH, METHODS, ParallelPlan, part_of
from llmviz.parallel.recording import recorded

KEY = "efficiency.parallel"
EACH = {"weights": 1, "gradients": 1, "state": 2}  # numbers for each parameter


def draw(outcome: Outcome) -> None:
    """Show the blocks of all processes, and what the other ways would hold."""
    kit.section(words.places)
    kit.chart(blocks(outcome, kit.theme()), f"{KEY}.places")
    processes = outcome.plan.processes
    others = f"{words.compared.format(processes=processes)} {compared_note(processes)}"
    kit.prose(f"{held_line(outcome)}\n\n{others}")
    kit.chart(compared(processes, outcome.plan.method, kit.theme()), f"{KEY}.held")


def part_name(part: str) -> str:
    """Return how a part of the model is called.

    >>> part_name("0.attention"), part_name("2.expert.3"), part_name("head")
    ('layer 1, attention', 'layer 3, expert 4', 'last norm and head')
    """
    layer, _, rest = part.partition(".")
    if not rest:
        return words.parts[part]
    kind, _, expert = rest.partition(".")
    number = int(expert) + 1 if expert else 0
    return words.parts[kind].format(layer=int(layer) + 1, expert=number)


@lru_cache(64)
def parts_of(plan: ParallelPlan) -> dict[str, tuple[int, int]]:
    """Return where each part of the model begins and how many parameters it has, in order."""
    sizes: dict[str, int] = {}
    for tensor in tensors(plan.model()):
        sizes[part_of(tensor.name)] = sizes.get(part_of(tensor.name), 0) + tensor.count
    spread = plan.method == "experts"  # what is no expert of a feed-forward is its router
    at, places = 0, {}
    for part, size in sizes.items():
        name = part.replace(".mlp", ".router") if spread else part
        places[name] = at, size
        at += size
    return places


@kit.kept(48, key=lambda outcome, mode: (outcome.plan, outcome.seconds, mode))
def blocks(outcome: Outcome, mode: kit.Mode) -> kit.Figure:
    """Return what lies in each process."""
    parts = parts_of(outcome.plan)
    rows, segments = [], []
    for number, process in enumerate(outcome.processes, 1):
        for kind in KINDS:
            row = words.row.format(process=number, kind=words.kinds[kind])
            rows.append(row)
            segments += [
                segment(outcome.plan, row, kind, piece, parts) for piece in process.held[kind]
            ]
    whole = count(outcome.plan.model())
    return lying(rows, segments, whole, words.places_axis, mode)


def segment(
    plan: ParallelPlan, row: str, kind: str, piece: Piece, parts: dict[str, tuple[int, int]]
) -> Segment:
    """Return a piece at its place in the model; it never reaches beyond its part."""
    name = piece.part.replace(".mlp", ".router") if plan.method == "experts" else piece.part
    begin, size = parts[name]
    length = piece.numbers / EACH[kind]
    start = min(begin + piece.start * size, begin + size - length)
    text = words.piece.format(
        part=part_name(name),
        numbers=piece.numbers,
        whole=size * EACH[kind],
        bytes=bytes_text(BYTES_EACH * piece.numbers),
    )
    return Segment(row, start, length, group_of(name, plan.n_layer), text)


def group_of(part: str, layers: int) -> int:
    """Return the number of the colour: the embedding, each layer, the head."""
    unit = part.partition(".")[0]
    return {"embedding": 0, "head": layers + 1}.get(unit, 0) or (
        int(unit) + 1 if unit.isdigit() else 0
    )


def totals(outcome: Outcome) -> list[int]:
    """Return the bytes that each process holds."""
    return [sum(process.bytes_held(kind) for kind in KINDS) for process in outcome.processes]


def alone(plan: ParallelPlan) -> int:
    """Return the bytes of weights, gradients and state of one process that has the whole model."""
    return BYTES_EACH * sum(EACH.values()) * count(plan.model())


def compared_note(processes: int) -> str:
    """Return the sentence about the ways whose models differ in size."""
    spread, others = (ParallelPlan(method, processes) for method in ("experts", "data"))
    return words.compared_note.format(
        experts=bytes_text(alone(spread)), others=bytes_text(alone(others))
    )


def held_line(outcome: Outcome) -> str:
    """Return the sentence about what the fullest process holds."""
    own = totals(outcome)
    whole = alone(outcome.plan)
    return words.held.format(
        most=bytes_text(max(own)),
        alone=bytes_text(whole),
        share=kit.percent(max(own) / whole),
        all=bytes_text(sum(own)),
    )


@kit.kept(32)
def compared(processes: int, chosen: str, mode: kit.Mode) -> kit.Figure:
    """Return what the fullest process holds with each way, from the bundled runs."""
    fullest = {}
    for plan, outcome in recorded().items():
        if plan.processes == processes and plan.method not in fullest:
            own = totals(outcome)
            fullest[plan.method] = outcome.processes[own.index(max(own))]
    methods = [method for method in METHODS if method in fullest]
    parts = {
        words.kinds[kind]: [fullest[method].bytes_held(kind) / 1e6 for method in methods]
        for kind in KINDS
    }
    names = [words.methods[method] for method in methods]
    return held(names, parts, words.held_axis, mode, chosen=methods.index(chosen))
