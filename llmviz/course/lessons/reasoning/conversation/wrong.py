"""The same conversations in wrong templates."""

from llmviz.course.lessons.reasoning.conversation import words
from llmviz.course.lessons.reasoning.conversation.chat_model import COMMAND, REPLIES
from llmviz.course.lessons.reasoning.conversation.chat_prompts import OWN, WRONG
from llmviz.course.lessons.reasoning.conversation.measured import KEY, right, together
from llmviz.course.lessons.reasoning.conversation.reading import Talk, reply_to
from llmviz.course.ui import kit


def wrong_question() -> kit.Question:
    """Return the question which wrong template costs the most right replies."""
    shares = [right(shape).value for shape in WRONG]
    said = {shape: kit.percent(share) for shape, share in zip(WRONG, shares, strict=True)}
    reason = words.wrong_reason.format(**said)
    return kit.Question.of(
        words.ask_wrong,
        shares.index(min(shares)),
        right=kit.percent(right(OWN).value),
        reason=reason,
    )


def draw_wrong(messages: Talk) -> bool:
    """Show wrong templates; return whether they may be seen."""
    kit.section(words.wrong)
    if not kit.predict(wrong_question(), f"{KEY}.wrong", covers=True):
        return False
    rows = []
    for shape in (OWN, *WRONG):
        ended = together(REPLIES, shape, lambda result: result.ended)
        measured = (kit.percent(right(shape).value), kit.percent(ended.value))
        rows.append((words.shapes[shape], *measured, live(messages, shape)))
    kit.rows_table(rows, words.wrong_columns, height="content")
    kit.prose(words.wrong_read, command=COMMAND)
    return True


def live(messages: Talk, shape: str = OWN) -> str:
    """Return the reply to the learner's conversation; "" after one clear line without one."""
    written = kit.or_refused(reply_to, messages, shape)
    return written.text if written else ""
