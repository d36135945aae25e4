"""A test whose questions stand in the training text, beside another test of the same kind."""

from llmviz.course.figures.ranges import Ranged, ranged_lines
from llmviz.course.lessons.errors.memorization import words
from llmviz.course.lessons.errors.tested_in_training import COPIES, bundled
from llmviz.course.ui import kit

KEY = "errors.memorization"
MOST = COPIES[-1]


def mean(copies: int, which: str) -> float:
    """Return the mean share of right answers of three models; which: read or other."""
    scores = bundled()[copies]
    return sum(getattr(score, which) for score in scores) / len(scores)


def draw_tests() -> bool:
    """Show the question and the scores; return whether what it covers is shown."""
    kit.section(words.tests, questions=bundled()[0][0].questions)
    if not kit.Guess(f"{KEY}.test", tests_question()).ask():
        return False
    kit.chart(tests_figure(kit.theme()), f"{KEY}.tests")
    kit.prose(
        words.test_read.format(
            most=MOST,
            a=kit.percent(mean(MOST, "read")),
            b=kit.percent(mean(MOST, "other")),
            before=kit.percent(mean(0, "read")),
            other_before=kit.percent(mean(0, "other")),
        )
    )
    return True


def tests_question() -> kit.Question:
    """Return the question how much of a test is right that stood in the training text."""
    numbers = {
        "a": kit.percent(mean(0, "read")),
        "b": kit.percent(mean(0, "other")),
        "other": kit.percent(mean(MOST, "other")),
        "most": MOST,
    }
    reasons = [reason.format(**numbers) for reason in words.ask_test_reasons]
    text = words.ask_test.format(**numbers)
    return kit.share_question(text, mean(MOST, "read"), reasons, kit.whole_percent)


@kit.cached(2)
def tests_figure(mode: kit.Mode) -> kit.Figure:
    """Return both scores by how often the test stands in the text."""
    drawn = [
        Ranged(
            name,
            role,
            list(
                zip(
                    *[[getattr(score, which) for score in bundled()[copies]] for copies in COPIES],
                    strict=True,
                )
            ),
        )
        for name, role, which in (
            (words.test_a, "weights", "read"),
            (words.test_b, "residual", "other"),
        )
    ]
    return ranged_lines(COPIES, drawn, (words.copies_axis, words.right_axis), mode, shares=True)


def ends() -> dict[str, str]:
    """Return the numbers of this section that the chapter's end names."""
    return {
        "before": kit.percent(mean(0, "read")),
        "after": kit.percent(mean(MOST, "read")),
        "other": kit.percent(mean(MOST, "other")),
    }
