"""Questions about blocks: how many a text has, and how many samples of a prompt share."""

from llmviz.course.lessons.efficiency.serving import words
from llmviz.course.ui import kit
from llmviz.serving.recording import Recording


def longest_table(recording: Recording) -> tuple[str, int] | None:
    """Return the sequence that had most tokens in memory at any tick, and how many; else None."""
    tables = [(tick.room[name], name) for tick in recording.ticks for name in tick.room]
    if not tables:
        return None
    length, name = max(tables, key=lambda table: (table[0], table[1]))
    return name, length


def blocks_of(name: str, length: int, size: int) -> kit.Question:
    """Ask how many blocks of `size` tokens a text of `length` tokens has."""
    blocks = -(-length // size)
    line = {"tokens": length, "size": size, "blocks": blocks}
    line |= {"slots": blocks * size, "waste": blocks * size - length}
    line |= {"rest": kit.count(length % size, "token")}
    reasons = {length: words.ask_tokens, blocks + 1: words.ask_one_more}
    if length % size and length > size:
        reasons[length // size] = words.ask_down
    reasons[blocks] = words.ask_up
    text = words.ask.format(
        name=name, length=kit.count(length, "token"), size=kit.count(size, "token")
    )
    return kit.Question.among(text, reasons, blocks, **line)


def blocks_of_samples(prompt: int, samples: int, size: int) -> kit.Question:
    """Ask how many blocks hold a prompt of so many tokens for two or more samples."""
    blocks = -(-prompt // size)
    line = {"tokens": prompt, "samples": samples, "slots": size, "blocks": blocks}
    reasons = {samples: words.ask_each}
    reasons |= {samples * blocks: words.ask_copies, blocks: words.ask_shared}
    text = words.ask_samples.format(
        prompt=kit.count(prompt, "token"), samples=samples, size=kit.count(size, "token")
    )
    return kit.Question.among(text, reasons, blocks, **line)
