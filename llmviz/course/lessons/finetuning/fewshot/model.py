"""Rules shown by examples in a prompt: where a model looks, and prompts read back.

K examples, T tokens, L layers, H heads.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llmviz.corpus.rules import ANSWERS, GROUPS, Question, Rule, group_words

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel

MOST_EXAMPLES = 16
SUCH = tuple(group_words(group)[0] for group in GROUPS[:6])  # words that rules know


@cache
def group_of() -> dict[str, str]:
    """Return the group of each word that a rule can be about; the first one where two have it."""
    groups: dict[str, str] = {}
    for group in GROUPS:
        for word in group_words(group):
            groups.setdefault(word, group)
    return groups


def read_prompt(written: str) -> Question:
    """Return the question of a prompt `coat red, pears blue, hat`.

    The groups of the words, and the answer that most examples of each group show, make its rule;
    at a tie the later one counts. Raises ValueError naming the first thing that a prompt must not
    have: an example without an answer, a word that no rule knows, an answer that is no colour, a
    last word of a group that was not shown.
    """
    *examples, last = [part.strip() for part in written.split(",")]
    if not last:
        raise ValueError(
            "the prompt must end with the word that is asked for; it ends with nothing"
        )
    if len(examples) > MOST_EXAMPLES:
        raise ValueError(f"a prompt may have {MOST_EXAMPLES} examples at most; got {len(examples)}")
    pairs = [_example(part, number) for number, part in enumerate(examples, 1)]
    word = _known(last, "the word at the end")
    given: dict[str, list[str]] = {}
    for noun, answer in pairs:
        given.setdefault(group_of()[noun], []).append(answer)
    group = group_of()[word]
    if group not in given:
        shown_groups = ", ".join(given) or "none"
        raise ValueError(
            f"{word!r} is of the group {group}, of which there is no example; shown: {shown_groups}"
        )
    answers = {name: max(reversed(some), key=some.count) for name, some in given.items()}
    return Question(Rule(answers), tuple(pairs), word)


def _example(part: str, number: int) -> tuple[str, str]:
    words = part.split()
    if len(words) != 2:
        raise ValueError(f"example {number} must be a word and its answer; got {part[:40]!r}")
    if words[1] not in ANSWERS:
        raise ValueError(
            f"the answer of example {number} must be one of {', '.join(ANSWERS)}; "
            f"got {words[1][:40]!r}"
        )
    return _known(words[0], f"the word of example {number}"), words[1]


def _known(word: str, which: str) -> str:
    if word in group_of():
        return word
    if not re.fullmatch(r"\S+", word):
        raise ValueError(f"{which} must be one word; got {word[:40]!r}")
    like = get_close_matches(word, group_of(), 1)
    known = f"they know {like[0]!r}" if like else f"they know words such as {', '.join(SUCH)}"
    raise ValueError(f"{which} must be one that the rules know, not {word[:40]!r}; {known}")


class Look(NamedTuple):
    """Where the word at the end of a prompt looks, head by head."""

    tokens: tuple[int, ...]  # T ids
    weights: np.ndarray  # (L, H, T, T)
    same: np.ndarray  # (L, H) weight on the answers of its own group
    other: np.ndarray  # (L, H) weight on the answers of the other groups
    even: float  # share of the tokens that are answers of its own group


def look(model: LanguageModel, tokenizer: Any, question: Question) -> Look:
    """Return all weights of a model on a prompt, and the last token's on the answers.

    A token of an answer belongs to the group of the word before it, also where the answer is
    wrong. Raises ValueError for a prompt longer than the context.
    """
    import torch

    from llmviz.finetuning.fewshot import rule_tokens
    from llmviz.trace import record

    prompt = tuple(tokenizer.encode_from_start(question.prompt))
    if len(prompt) > model.context_length:
        raise ValueError(
            f"the prompt has {len(prompt)} tokens; the model reads {model.context_length} at most"
        )
    groups = group_of()
    own = groups[question.word]
    marks = np.zeros((2, len(prompt)), bool)  # of its own group, of others
    for number, (word, _) in enumerate(question.examples):
        before = len(rule_tokens(tokenizer, question.examples[:number]))
        until = len(rule_tokens(tokenizer, question.examples[: number + 1]))
        answer = len(tokenizer.encode(f" {question.examples[number][1]}"))
        assert before < until - answer
        marks[int(groups[word] != own), until - answer : until] = True
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        model(torch.tensor([prompt]))
    weights = np.stack([part[0].numpy() for part in trace.values()])  # (L, H, T, T)
    last = weights[:, :, -1]
    same, other = (last[..., mask].sum(-1) for mask in marks)
    return Look(prompt, weights, same, other, float(marks[0].mean()))
