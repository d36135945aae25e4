"""Two mistakes to spot: layers taken for heads, and a table that begins at 0 read from 1."""

from llmviz.course.lessons.attention.heads import words
from llmviz.course.ui import kit

KEY = "attention.heads.spot"


def draw(name: str, layers: int, heads: int, width: int) -> bool:
    """Ask both questions on a model, as far as it has what they are about.

    Returns whether what comes below may be seen.
    """
    both = [layers_and_heads(name, layers, heads, width), counted_from_zero(layers, heads)]
    quizzes = {f"{KEY}.{number}": quiz for number, quiz in enumerate(both) if quiz is not None}
    if quizzes:
        kit.section(words.spot)
    return all([kit.predict(question, key, covers=True) for key, question in quizzes.items()])


def layers_and_heads(name: str, layers: int, heads: int, width: int) -> kit.Question | None:
    """Return the question which line is wrong; None for models with one head in each layer."""
    if heads == 1:
        return None
    known = {
        "name": name,
        "layers": kit.count(layers, "layer"),
        "total": kit.count(layers, "head"),
        "heads": kit.count(heads, "head"),
        "all": layers * heads,
        "size": width // heads,
        "width": width,
    }
    wrong = list(words.spot_wrong)[(layers + width // heads) % len(words.spot_wrong)]
    lines = {**words.spot_lines, wrong: words.spot_wrong[wrong]}
    reasons = {line.format(**known): why for line, why in lines.values()}
    return kit.Question.among(words.spot_heads, reasons, lines[wrong][0].format(**known), **known)


def counted_from_zero(layers: int, heads: int) -> kit.Question | None:
    """Return the question which head a row of a table means; None without a second of both."""
    if layers < 2 or heads < 2:
        return None
    nth = words.ordinals
    layer, head = (1 + (layers + heads) % (min(n, len(nth)) - 1) for n in (layers, heads))
    options = {
        (layer - 1, head - 1): words.spot_zero_both,
        (layer - 1, head): words.spot_zero_layer,
        (layer, head - 1): words.spot_zero_head,
        (layer, head): words.spot_zero_right.format(layer=layer, nth=nth[layer]),
    }
    return kit.Question.among(
        words.spot_zero,
        options,
        (layer, head),
        lambda place: words.spot_zero_answer.format(layer=nth[place[0]], head=nth[place[1]]),
        layer=layer,
        head=head,
        wrong_layer=nth[layer - 1],
        wrong_head=nth[head - 1],
    )
