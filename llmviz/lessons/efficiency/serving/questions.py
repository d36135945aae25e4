"""Questions about blocks: how many a text has, and how many samples of a prompt share."""

from __future__ import annotations

from llmviz.lessons.efficiency.serving import words
from llmviz.serving.recording import Recording
from llmviz.ui.question import Question


def _by_size(text: str, reasons: dict[int, str], right: int) -> Question:
    """Return a question with an answer for each count, the smallest first."""
    counts = sorted(reasons)
    answers = [f"{count:,}" for count in counts]
    return Question(text, answers, counts.index(right), [reasons[count] for count in counts])


def longest_table(recording: Recording) -> tuple[str, int] | None:
    """Return the sequence that had most tokens in memory at any tick, and how many; else None."""
    found = [(tick.room[name], name) for tick in recording.ticks for name in tick.room]
    if not found:
        return None
    length, name = max(found, key=lambda one: (one[0], one[1]))
    return name, length


def blocks_of(name: str, length: int, size: int) -> Question:
    """Ask how many blocks of `size` tokens a text of `length` tokens has."""
    blocks = -(-length // size)
    line = {"name": name, "length": length, "size": size, "blocks": blocks}
    line |= {"slots": blocks * size, "waste": blocks * size - length, "rest": length % size}
    reasons = {length: words.ASK_TOKENS if size > 1 else words.ASK_TOKENS_ONE}
    reasons[blocks + 1] = words.ASK_ONE_MORE
    if length % size and length > size:
        reasons[length // size] = words.ASK_DOWN
    reasons[blocks] = words.ASK_UP
    written = {count: reason.format(**line) for count, reason in reasons.items()}
    return _by_size(words.ASK.format(**line), written, blocks)


def blocks_of_samples(prompt: int, samples: int, size: int) -> Question:
    """Ask how many blocks hold a prompt of so many tokens for two or more samples."""
    blocks = -(-prompt // size)
    line = {"prompt": prompt, "samples": samples, "size": size, "blocks": blocks}
    reasons = {samples: words.ASK_EACH}
    reasons |= {samples * blocks: words.ASK_COPIES, blocks: words.ASK_SHARED}
    written = {count: reason.format(**line) for count, reason in reasons.items()}
    return _by_size(words.ASK_SAMPLES.format(**line), written, blocks)
