"""The questions of the chapter "Token after token": one right answer on every text and model."""

from collections.abc import Mapping

from llmviz.course.lessons.transformer.loop import words
from llmviz.course.lessons.transformer.token_loop import vectors_computed
from llmviz.course.ui import kit
from llmviz.models.arithmetic import cache_per_token
from llmviz.models.settings import GPTConfig

ASKED = 10  # rounds that the first question is about


def rounds_question(tokens: int) -> kit.Question:
    """Ask how many vectors a layer computes in ten rounds without a cache."""
    right = sum(vectors_computed(tokens, ASKED, cached=False))
    wrong = {
        "cached": sum(vectors_computed(tokens, ASKED, cached=True)),
        "same": ASKED * tokens,
        "last": ASKED * (tokens + ASKED),
        "new": ASKED,
    }
    line = {"tokens": kit.count(tokens, "token"), "n": tokens, "right": right}
    return _of_numbers(words.ask.format(**line), right, wrong, words.ask_right, line)


def bytes_question(config: GPTConfig) -> kit.Question:
    """Ask how many numbers a token leaves in the cache."""
    right = cache_per_token(config)
    wrong = {
        "one layer": 2 * config.kv_heads * config.head_size,
        "keys": config.n_layer * config.kv_heads * config.head_size,
        "row": config.n_embd,
        "all heads": 2 * config.n_layer * config.n_embd,
        "vocab": config.vocab_size,
    }
    line = {
        "right": right,
        "size": config.head_size,
        "g": config.kv_heads,
        "heads": kit.count(config.kv_heads, "head"),
        "n_layer": config.n_layer,
        "layers": kit.count(config.n_layer, "layer"),
    }
    return _of_numbers(words.ask_bytes, right, wrong, words.bytes_right, line)


def _of_numbers(
    text: str, right: int, wrong: Mapping[str, int], reason: str, line: Mapping[str, object]
) -> kit.Question:
    """A question whose answers are different numbers.

    Of mistakes that lead to the same number the first one is offered; one that leads to the right
    number is none.
    """
    texts = words.ask_wrong | words.bytes_wrong
    offered = {right: reason}
    for name, number in wrong.items():
        offered.setdefault(number, texts[name])
    return kit.Question.among(text, offered, right, **line)
