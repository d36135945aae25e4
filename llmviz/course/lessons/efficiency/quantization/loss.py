"""The loss of the whole model by bits and scheme, its size, and the learner's own setting."""

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.digits import difference
from llmviz.course.lessons.efficiency.quantization.quantization_curves import (
    COMMAND,
    GROUP_OF,
    WAYS,
    Curves,
    Point,
    Way,
    curves,
)
from llmviz.course.lessons.efficiency.quantization.quantized_loss import DOCUMENTS, LossSoFar
from llmviz.course.lessons.efficiency.quantization.setting import KEY, MODEL, model
from llmviz.course.ui import engine, kit
from llmviz.quantization.model import linears, plain_bytes, sizes
from llmviz.quantization.quantized_models import AWQ, ROUNDING
from llmviz.quantization.scheme import GROUP, Scheme

bundled = kit.kept(1)(curves)


@kit.kept(32)
def measured(model: engine.Bundled, scheme: Scheme, method: str) -> kit.Job:
    """Return the measurement of one setting, in a process of its own."""
    target = "llmviz.course.lessons.efficiency.quantization.quantized_loss:quantized_loss"
    return kit.map_jobs().start(target, name=MODEL, scheme=scheme.to_dict(), method=method)


def draw(state: kit.PageState, scheme: Scheme) -> None:
    """Show the section."""
    try:
        known = bundled()
    except ValueError as error:
        kit.refuse(error)
    else:
        _known(state, scheme, known)
    kit.predict(size_question(scheme), f"{KEY}.size")
    kit.prose(words.measure_text, documents=DOCUMENTS)
    kit.live(
        state,
        "qmeasured",
        measured,
        (model(), scheme, state["qmethod"]),
        _draw_results,
        start=words.measure,
        share=lambda job: len(job.results) and job.results[-1].documents / DOCUMENTS,
        said=kit.Said(words.going, words.stopped, words.again),
    )


def _known(state: kit.PageState, scheme: Scheme, known: Curves) -> None:
    line = {"matrices": len(linears(model().model)), "above": known.loss - known.floor}
    line |= {"documents": known.documents, "tokens": known.tokens, "floor": known.floor}
    kit.section(words.loss, **line, command=COMMAND)
    kit.choose(state, "qaxis", words.axis, words.axes_of)
    kit.chart(chart(state["qform"], state["qaxis"], kit.theme()), f"{KEY}.curves")
    kit.rows_table(rows(known, scheme.bits), words.loss_columns)
    kit.prose(report(known, scheme.bits, state["qform"]))
    kit.prose(words.about_size, rest=known.float16 - known.float16_matrices)


def way_name(way: Way) -> str:
    """Return how a way is called, without its form."""
    group = f"group of {GROUP_OF}"
    return words.ways[f"{way.per}-{way.method}"].format(group=group)


def form_of(way: Way) -> str:
    """Return how a way's grid is called."""
    return words.forms["symmetric" if way.symmetric else "asymmetric"]


@kit.kept(8)
def chart(form: str, axis: str, mode: kit.Mode) -> kit.Figure:
    """Return the loss above the floor of all ways of a form, across bits or bytes."""
    known = bundled()
    drawn = []
    for way in WAYS:
        if way.symmetric != (form == "symmetric"):
            continue
        points = known.points[way.key]
        x = [point.bits if axis == "bits" else point.matrices for point in points]
        y = [point.loss - known.floor for point in points]
        drawn.append(Line(way_name(way), x, y, len(drawn), dashed=way.method == AWQ))
    return lines(
        drawn,
        (words.axes_of[axis], words.loss_axis),
        mode,
        logarithmic=(False, True),
        level=(known.loss - known.floor, words.exact_line),
        hover="%{y:.4f}",
    )


def at(known: Curves, way: Way, bits: int) -> Point:
    """Return the measurement of a way at a number of bits."""
    (point,) = (point for point in known.points[way.key] if point.bits == bits)
    return point


def rows(known: Curves, bits: int) -> list[tuple[str, ...]]:
    """Return the measurements of all ways at a number of bits, as text."""
    table = []
    for way in WAYS:
        point = at(known, way, bits)
        more = difference(point.loss - known.loss, 4)
        table.append(
            (form_of(way), way_name(way), f"{point.loss:.4f}", more, f"{point.total / 1e6:.2f}")
        )
    return table


def report(known: Curves, bits: int, form: str) -> str:
    """Return what the table says: best, worst, and what scaling did."""
    losses = {way: at(known, way, bits).loss for way in WAYS}
    best, worst = min(losses, key=losses.__getitem__), max(losses, key=losses.__getitem__)
    read = words.loss_read.format(
        bits=bits,
        count=len(WAYS),
        best=losses[best],
        worst=losses[worst],
        way=f"{form_of(best)}, {way_name(best)}",
        other=f"{form_of(worst)}, {way_name(worst)}",
    )
    symmetric = form == "symmetric"
    plain, scaled = (losses[Way(symmetric, GROUP, method)] for method in (ROUNDING, AWQ))
    before, after = round(plain, 4), round(scaled, 4)
    sign = (before > after) - (before < after)
    line = {"plain": plain, "scaled": scaled, "group": GROUP_OF, "form": words.forms[form]}
    return f"{read} {words.awq_read[sign].format(**line)}"


def size_question(scheme: Scheme) -> kit.Question:
    """Ask how much smaller the whole model is than with 16 bits."""
    before, size = plain_bytes(model().model, 2), sizes(model().model, scheme)
    times = before / size.total
    right = words.size_answer.format(times=times)
    offered = {right: words.size_right}
    wrong = {"codes": 16 / scheme.bits, "square": (16 / scheme.bits) ** 2, "same": 1.0}
    for name, value in wrong.items():
        offered.setdefault(words.size_answer.format(times=value), words.size_wrong[name])
    line = {"bits": scheme.bits, "before": before, "after": size.total, "times": times}
    line |= {"matrices": size.matrices, "rest": size.rest}
    return kit.Question.among(words.size_ask, offered, right, **line)


def _draw_results(job: kit.Job) -> None:
    if job.results:
        kit.prose(told_measured(job.results[-1]))


def told_measured(losses: LossSoFar) -> str:
    """Return what the learner's setting was measured to be."""
    return words.measured.format(**vars(losses))


def end(bits: int) -> str:
    """Return what the best way measured with so many bits costs; empty without the curves."""
    try:
        known = bundled()
    except ValueError:
        return ""
    best = min(at(known, way, bits).loss for way in WAYS)
    return words.end_first["whole"].format(bits=bits, count=len(WAYS), best=best, exact=known.loss)
