"""Zero, one, few examples: what a model answers to prompts whose rule only the examples show.

Reference: Brown et al. 2020, "Language Models are Few-Shot Learners", figure 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from llmviz.corpus.rules import ANSWERS, EXAMPLES, Question, questions, shown_rules
from llmviz.finetuning.masked import MaskedData, Scored
from llmviz.models.base import LanguageModel
from llmviz.training.data import end_id

ROWS = 64  # prompts in one forward pass
HELD_OUT = 200  # rules that validation is on
CURVE = (0, 1, 2, 4, 8, 14)  # examples in a prompt


def rule_tokens(tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> tuple[Scored, ...]:
    """Return the text of a rule's examples token by token; the answers are what counts."""
    tokens = [Scored(token, False) for token in tokenizer.behind_start(())]
    for number, (word, answer) in enumerate(pairs):
        before = f", {word}" if number else word
        tokens += [Scored(token, False) for token in tokenizer.encode(before)]
        tokens += [Scored(token, True) for token in tokenizer.encode(f" {answer}")]
    return tuple(tokens)


def prepare_rules(tokenizer: Any, context_length: int, count: int, seed: int = 0) -> MaskedData:
    """Return batches of `count` rules for training; validation is on held-out ones.

    Raises ValueError where the examples do not fit the context.
    """
    both = [
        tuple(rule_tokens(tokenizer, pairs) for pairs in shown_rules(size, seed, held_out=held_out))
        for size, held_out in ((count, False), (HELD_OUT, True))
    ]
    longest = max(len(row) for rows in both for row in rows) - 1
    if longest > context_length:
        raise ValueError(
            f"{EXAMPLES} examples need a context of {longest} tokens; "
            f"the model has {context_length}"
        )
    sizes = (end_id(tokenizer), tokenizer.vocab_size, context_length)
    return MaskedData(both[0], both[1], (), *sizes, seed=seed)


class Answers(NamedTuple):
    """What a model says to N questions; answers are numbered as in ANSWERS."""

    probabilities: Tensor  # (N, number of answers) of each answer word, of the whole vocabulary
    chosen: Tensor  # (N,) int64, the most probable answer word
    right: Tensor  # (N,) bool, whether that is the rule's

    @property
    def accuracy(self) -> float:
        """The share that is right."""
        return self.right.double().mean().item()


@torch.no_grad()
def answers(model: LanguageModel, tokenizer: Any, asked: Sequence[Question]) -> Answers:
    """Ask a model; each prompt opens as a document does.

    What counts is the first token of each answer, with the space before it where the tokenizer has
    spaces. Raises ValueError for no question, or a prompt longer than the model's context.
    """
    if not asked:
        raise ValueError("at least one question is needed; got none")
    end, first = end_id(tokenizer), answer_tokens(tokenizer)
    prompts = [tokenizer.encode_from_start(question.prompt) for question in asked]
    rows = torch.empty(len(prompts), len(ANSWERS))
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    for start in range(0, len(order), ROWS):
        some = order[start : start + ROWS]
        idx = torch.full((len(some), max(len(prompts[i]) for i in some)), end)
        last = torch.tensor([len(prompts[i]) - 1 for i in some])
        for row, i in enumerate(some):
            idx[row, : len(prompts[i])] = torch.tensor(prompts[i])
        logits = model(idx)[0][torch.arange(len(some)), last]  # (rows, V)
        rows[some] = logits.softmax(-1)[:, first]
    chosen = rows.argmax(1)
    wanted = torch.tensor([ANSWERS.index(question.answer) for question in asked])
    return Answers(rows, chosen, chosen == wanted)


def answer_tokens(tokenizer: Any) -> list[int]:
    """Return the id of the first token of each answer, as it stands after a word."""
    before = tokenizer.encode("cat")
    return [tokenizer.encode(f"cat {answer}")[len(before)] for answer in ANSWERS]


def best_possible(examples: int, groups: int) -> float:
    """Return the expected accuracy of the best reader of `draw_question`'s prompts.

    It knows the answer if the word's group was shown, which min(examples, groups) of the groups
    were; else it can only guess among the answers that were not shown.

    >>> best_possible(0, 2), best_possible(1, 2), best_possible(2, 2)
    (0.05, 0.5263157894736842, 1.0)
    """
    groups_seen = min(examples, groups)
    known = groups_seen / groups
    return known + (1 - known) / (len(ANSWERS) - groups_seen)


def curve(
    model: LanguageModel, tokenizer: Any, count: int, groups: int = 2, seed: int = 0
) -> dict[str, float]:
    """Return the accuracy on held-out rules by the number of examples in the prompt, as text.

    count: prompts for each number. The keys are numbers as text, as JSON has them.
    """
    return {
        str(examples): answers(
            model, tokenizer, questions(count, examples, groups, 0, seed)
        ).accuracy
        for examples in CURVE
    }
