"""The question of the chapter "Names": what one missed word costs."""

from collections.abc import Sequence

from llmviz.course.lessons.language.names import words
from llmviz.course.ui import kit
from llmviz.language.names import OUTSIDE, span_score, spans, token_score


def shortened(texts: Sequence[str], truth: Sequence[str]) -> kit.Question | None:
    """Return what counts as right if the last word of the longest name is missed, as a question.

    None where no name has two words.
    """
    named = spans(truth)
    longest = max(named, key=lambda span: span.end - span.start, default=None)
    if longest is None or longest.end - longest.start < 2:
        return None
    given = list(truth)
    given[longest.end - 1] = OUTSIDE
    whole, by_word = span_score([truth], [given]), token_score([truth], [given])
    slots = {
        "name": kit.quote(" ".join(texts[longest.start : longest.end]), 60),
        "length": longest.end - longest.start,
        "there": whole.there,
        "names": kit.count(whole.there, "name"),
        "right": whole.right,
        "less": whole.right,
        "token_right": by_word.right,
        "token_there": by_word.there,
    }
    answers = [words.ask_all.format(**slots), words.ask_one_less.format(**slots)]
    reason = words.ask_reason.format(**slots)
    if whole.right > 0:
        answers.append(words.ask_less.format(less=0))
    return kit.Question(words.ask.format(**slots), answers, 1, [reason] * len(answers))
