"""Which head of the story model an answer depends on: right as stories ask, and wrong otherwise.

Makes what `llmviz.course.lessons.errors.causes.answering_heads` reads.

H heads, L layers, K possible answers.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.corpus.letter_questions import SPELLINGS, WHOLE
from llmviz.corpus.words import words
from llmviz.course.lessons.errors.moved_answers import (
    MODEL,
    PLAIN,
    STORIES,
    WAYS,
    asked_stories,
    first_tokens,
)
from llmviz.course.lessons.errors.token_letters import AFTER, BEFORE, spelled
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer
from llmviz.course.lessons.errors.causes.answering_heads import (
    COMMAND,
    FILE,
    SPELLED,
    WORDED,
    HeadCase,
    Look,
)

ENDING = 90  # characters of a prompt's end that are kept


@dataclass(frozen=True)
class Answering:
    """The right answer's probability with one head from another pass, and where that head looks."""

    layer: int
    head: int
    moved: float
    looks: tuple[Look, Look]


def answering_head(
    model: LanguageModel,
    tokenizer: Tokenizer,
    prompts: tuple[Sequence[int], Sequence[int]],
    answers: Sequence[int],
) -> Answering:
    """Return the head that, taken from the first prompt, makes the first answer most probable.

    prompts: ids, the one that is answered rightly first. answers (K,): tokens that are compared.
    """
    from llmviz.interpretability.patching import patch_by_position, read_prompt

    right, here = (read_prompt(model, ids) for ids in prompts)
    sites, logits = next(patch_by_position(model, here, right, answers, ("head",)))
    chances = logits.double().softmax(-1)[:, 0]
    best = int(chances.argmax())
    site = sites[best]
    first, second = (_look(model, tokenizer, ids, site.layer, site.head) for ids in prompts)
    return Answering(site.layer, site.head, round(float(chances[best]), 4), (first, second))


def _look(
    model: LanguageModel, tokenizer: Tokenizer, ids: Sequence[int], layer: int, head: int
) -> Look:
    import torch

    from llmviz.trace import record

    name = f"blocks.{layer}.attn.weights"
    with torch.inference_mode(), record([name]) as trace:
        model(torch.tensor([list(ids)]), last_only=True)
    weights = trace[name][0, head, -1]
    at = int(weights.argmax())
    return Look(_text(tokenizer, [ids[at]]), round(float(weights[at]), 4))


def _text(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    text = b"".join(map(tokenizer.token_bytes, ids)).decode("utf-8", "replace")
    return text.strip() or text


def _texts(tokenizer: Tokenizer, ids: Sequence[int]) -> tuple[str, ...]:
    return tuple(_text(tokenizer, [token]) for token in ids)


def _chances(model: LanguageModel, ids: Sequence[int], answers: Sequence[int]) -> list[float]:
    import torch

    with torch.inference_mode():
        logits = model(torch.tensor([list(ids)]), last_only=True)[0][0, -1]
    return logits[list(answers)].double().softmax(-1).tolist()


def spelled_cases(model: LanguageModel, tokenizer: Tokenizer) -> Iterator[HeadCase]:
    """Yield places that are found again as the tokenizer cuts them, and not in other tokens."""
    front, back = [*tokenizer.start, *tokenizer.encode(BEFORE)], tokenizer.encode(AFTER)
    for place in words("places"):
        ways = {way: spelled(tokenizer, place, way) for way in SPELLINGS}
        prompts = {way: [*front, *ids, *back] for way, ids in ways.items()}
        right = ways[WHOLE][0]
        every = [right, *(token for token in range(tokenizer.vocab_size) if token != right)]
        plain = _chances(model, prompts[WHOLE], every)
        for way in SPELLINGS[1:]:
            here = _chances(model, prompts[way], every)
            best = max(range(len(every)), key=here.__getitem__)
            if plain[0] < 0.5 or best == 0 or ways[way] == ways[WHOLE]:
                continue
            found = answering_head(model, tokenizer, (prompts[WHOLE], prompts[way]), every)
            yield HeadCase(
                SPELLED,
                way,
                place,
                place,
                _text(tokenizer, [every[best]]),
                round(here[best], 4),
                round(plain[0], 4),
                round(here[0], 4),
                found.layer,
                found.head,
                found.moved,
                found.looks,
                tokens=(_texts(tokenizer, ways[WHOLE]), _texts(tokenizer, ways[way])),
                endings=(AFTER[2:], AFTER[2:]),
            )


def worded_cases(
    model: LanguageModel, tokenizer: Tokenizer, count: int = STORIES
) -> Iterator[HeadCase]:
    """Yield questions that are answered rightly as stories ask them, and wrongly in another way."""
    for story in asked_stories(tokenizer, count):
        people = (story.right, *story.others)
        answers, most = first_tokens(tokenizer, story), model.context_length
        texts = {name: way(story) for name, way in WAYS.items()}
        prompts = {name: tokenizer.encode_from_start(text)[-most:] for name, text in texts.items()}
        plain = _chances(model, prompts[PLAIN], answers)
        for name in WAYS:
            here = _chances(model, prompts[name], answers)
            best = max(range(len(answers)), key=here.__getitem__)
            if max(plain) > plain[0] or best == 0:
                continue
            found = answering_head(model, tokenizer, (prompts[PLAIN], prompts[name]), answers)
            yield HeadCase(
                WORDED,
                name,
                story.thing,
                story.right,
                people[best],
                round(here[best], 4),
                round(plain[0], 4),
                round(here[0], 4),
                found.layer,
                found.head,
                found.moved,
                found.looks,
                tokens=((), ()),
                endings=(_ending(texts[PLAIN]), _ending(texts[name])),
            )


def _ending(text: str) -> str:
    """The last words of a prompt, at most ENDING characters."""
    return text if len(text) <= ENDING else text[-ENDING:].partition(" ")[2]


def main() -> None:
    """Measure and write."""
    from tqdm import tqdm

    from llmviz.pretrained import load_bundled

    parser = argparse.ArgumentParser(description="Measure which heads wrong answers depend on.")
    parser.add_argument("--to", type=Path, default=EXPERIMENT_FOLDER, help="where the file goes")
    folder = parser.parse_args().to
    model, tokenizer, _ = load_bundled(MODEL)
    every = chain(spelled_cases(model, tokenizer), worded_cases(model, tokenizer))
    cases = [asdict(case) for case in tqdm(every, unit="case")]
    write_json(folder / FILE, {"command": COMMAND, "model": MODEL, "cases": cases})


if __name__ == "__main__":
    main()
