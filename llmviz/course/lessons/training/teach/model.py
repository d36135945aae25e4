"""A model that has read nothing yet, and one text: what it writes after so many steps on it.

B windows of T letters. Torch is imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from llmviz.course.lessons.training.teach import words

if TYPE_CHECKING:
    from llmviz.models import GPT

STEPS = 300
WIDTH, LAYERS, HEADS = 48, 2, 4
WINDOW, ROWS = 32, 8  # T and B at most
RATE = 5e-3
SHORTEST, LONGEST = 20, 2_000  # characters of a text
WRITES = 120  # letters of what it writes
CARE = 0.5  # the temperature at which it writes
LOOKS = (0, 10, 30, 100, STEPS)  # steps after which it writes
WARM = 20  # steps in which the learning rate rises
POINT = 5  # steps of which a point of the curve is the mean


class Taught(NamedTuple):
    """A point of the curve: a step, the mean loss of the steps up to it in nats per letter, how
    many numbers the model has, and what it writes then, at some of them."""

    step: int
    loss: float
    numbers: int
    wrote: str | None = None


def teach(text: str) -> Iterator[Taught]:
    """Train a new GPT on a text, letter by letter, and yield how it goes.

    Its vocabulary is the letters of the text. Raises ValueError: the text is too short or too long.
    """
    import torch

    from llmviz.models import GPT, GPTConfig

    checked(text)
    letters = letters_of(text)
    ids = torch.tensor([letters.index(letter) for letter in text])
    length = min(WINDOW, len(ids) - 1)
    torch.manual_seed(0)
    shape: dict[str, Any] = {"n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH}
    model = GPT(GPTConfig(len(letters), WINDOW, dropout=0.0, **shape))
    numbers = sum(parameter.numel() for parameter in model.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), RATE, weight_decay=0.01)
    starts = torch.Generator().manual_seed(0)
    losses: list[float] = []
    for step in range(STEPS + 1):
        at = torch.randint(len(ids) - length, (ROWS, 1), generator=starts)
        at[0] = 0  # how the text begins is read each time, as what it writes begins there
        windows = ids[at + torch.arange(length + 1)]  # (B, T + 1)
        loss = model(windows[:, :-1], windows[:, 1:])[1]
        losses.append(loss.item())
        if step in LOOKS or step % POINT == 0:
            wrote = written(model, letters, text[0]) if step in LOOKS else None
            yield Taught(step, sum(losses) / len(losses), numbers, wrote)
            losses.clear()
        for group in optimizer.param_groups:  # it rises, and falls to a tenth at the end
            group["lr"] = RATE * min((step + 1) / WARM, 1 - 0.9 * step / STEPS)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def checked(text: str) -> str:
    """Return a text. Raises ValueError: it is too short to learn from, or too long."""
    if len(text.strip()) < SHORTEST or len(text) > LONGEST:
        raise ValueError(words.refused.format(least=SHORTEST, most=LONGEST, count=len(text)))
    return text


def letters_of(text: str) -> list[str]:
    """Return the different letters of a text in their order.

    >>> letters_of("banana")
    ['a', 'b', 'n']
    """
    return sorted(set(text))


def written(model: GPT, letters: Sequence[str], first: str) -> str:
    """Return what a model writes from a text's first letter on."""
    import torch

    from llmviz.sampling.generation import generate

    dice = torch.Generator().manual_seed(0)
    tokens = generate(model, [letters.index(first)], WRITES - 1, CARE, generator=dice)
    return first + "".join(letters[token.id] for token in tokens)
