"""The watermark of the story model: false alarms, how soon it is found, and what takes it away.

Makes what `llmviz.course.lessons.next.watermark.model` reads.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments._command import write_to
from llmviz.corpus.grammar_likelihood import kept_characters
from llmviz.corpus.words import article, words
from llmviz.course.lessons.next.watermark.model import (
    ALARM,
    COMMAND,
    FILE,
    FORCED,
    FREE,
    HEATS,
    LONGEST,
    MODEL,
    PUSH,
    REAL_HEAT,
    REAL_PUSH,
    SHARE,
    TOKENS,
    Alarms,
    Cell,
    Changed,
    Recorded,
    Sample,
    text_of,
)
from llmviz.evaluation.exact_loss import log_softmax
from llmviz.evaluation.text_loss import target_logits
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.obtainable.catalogue import OBTAINABLE
from llmviz.sampling.watermark import Watermark, binomial_tail, detect, evidence, least_green
from llmviz.training.files import write_json
from llmviz.training.held_out_texts import SEED, stories

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

SETS, TEXTS = 3, 16  # of written texts; each has a key and dice of its own
PROMISED = (0.1, 0.01, 0.001)
HONEST, KEYS = 1000, 40  # texts of the grammar, and keys that count each
PUSHES = (0.0, 1.0, 2.0, 3.0, 5.0, 8.0)
WORDS = (0.0, 0.25, 0.5, 0.75, 1.0)  # shares of the words that can be exchanged
JUDGED = 100  # texts of each writer in a set
CLASSES = (
    *("qualities", "jobs", "feelings", "adverbs", "acts", "motion", "places", "features"),
    *("girls", "boys", "surnames", "things", "colours", "food", "fruits", "clothes"),
)
REAL_TOKENS = 60
PROMPTS = {
    FREE: "Once upon a time there was a little boat that",
    FORCED: f"Count: {', '.join(map(str, range(1, 25)))},",
}

Text = list[int]


def honest_texts(tokenizer: Tokenizer, count: int, seed: int) -> list[Text]:
    """Return the beginnings of stories of the grammar, TOKENS behind the start."""
    every = (tokenizer.encode_from_start(text)[: TOKENS + 1] for text in stories(count, seed))
    return [ids for ids in every if len(ids) == TOKENS + 1]


def false_alarms(
    tokenizer: Tokenizer, texts: int = HONEST, keys: int = KEYS
) -> tuple[int, list[Alarms]]:
    """Return how many texts were read, and the false alarms; each is read with a key of its own."""
    every = honest_texts(tokenizer, texts, SEED)
    found = [
        evidence(ids, Watermark(keys * at + key, SHARE)).chance
        for at, ids in enumerate(every)
        for key in range(keys)
    ]
    pairs = [len(detect(ids, Watermark(0, SHARE)).pairs) for ids in every]
    alarms = [
        Alarms(
            promised,
            float(np.mean([_exact(n, promised) for n in pairs])),
            sum(bool(chance[-1] <= promised) for chance in found),
            sum(bool(chance.min() <= promised) for chance in found),
        )
        for promised in PROMISED
    ]
    return len(found), alarms


def _exact(pairs: int, alarm: float) -> float:
    return binomial_tail(least_green(pairs, SHARE, alarm), pairs, SHARE)


def write_texts(
    model: LanguageModel, tokenizer: Tokenizer, heat: float, push: float, number: int
) -> Iterator[tuple[Watermark, Text]]:
    """Yield the texts of a set, each with its mark."""
    for at in range(number * TEXTS, (number + 1) * TEXTS):
        mark = Watermark(1000 + at, SHARE, push)
        yield mark, text_of(model, tokenizer, tokenizer.start, mark, heat, at, LONGEST).ids


def measure(model: LanguageModel, tokenizer: Tokenizer, heat: float, push: float) -> Cell:
    """Write the texts of a temperature and a push, and measure them."""
    entropy, rings, loss, kept = [], [], [], []
    for number in range(SETS):
        rang, lost, held = [], [], []
        for mark, ids in write_texts(model, tokenizer, heat, push, number):
            logits = target_logits(model, ids)
            sure = log_softmax(logits / heat)
            entropy.append(float(-(np.exp(sure) * sure).sum(1).mean()))
            plain = log_softmax(logits)[np.arange(LONGEST), ids[1:]]
            lost.append(-float(plain.mean()))
            rang.append(evidence(ids, mark).rings(ALARM) or LONGEST + 1)
            text = _first_story(tokenizer, ids)
            held.append(kept_characters(text) / len(text))
        rings.append(rang)
        loss.append(float(np.mean(lost)))
        kept.append(float(np.mean(held)))
    return Cell(heat, push, float(np.mean(entropy)), rings, loss, kept)


def _first_story(tokenizer: Tokenizer, ids: Text) -> str:
    own = ids[len(tokenizer.start) :]
    return tokenizer.decode(own[: own.index(tokenizer.end)] if tokenizer.end in own else own)


def exchanged(text: str, share: float, chance: random.Random) -> str:
    """Return a text with a share of its words exchanged for others of their class.

    A word becomes the same other one wherever it stands. An exchange is taken only where the
    grammar can write the text at least as far as before.
    """
    kinds = {word: name for name in CLASSES for word in words(name)}
    known = list(dict.fromkeys(word for word in re.findall(r"\w+", text) if word in kinds))
    chance.shuffle(known)
    kept = _words_kept(text)
    for word in known[: round(share * len(known))]:
        for _ in range(5):  # tries
            new = chance.choice([o for o in words(kinds[word]) if article(o) == article(word)])
            other = re.sub(rf"\b{word}\b", new, text)
            if new not in text and (now := _words_kept(other)) >= kept:
                text, kept = other, now
                break
    return text


def _words_kept(text: str) -> int:
    return len(text[: kept_characters(text)].split())


def change(model: LanguageModel, tokenizer: Tokenizer) -> list[Changed]:
    """Exchange words of marked texts, and count how many are still found."""
    every = [list(write_texts(model, tokenizer, 1.0, PUSH, number)) for number in range(SETS)]
    rows = []
    for share in WORDS:
        new, found = [], []
        for texts in every:
            seen = []
            for at, (mark, ids) in enumerate(texts):
                text = _first_story(tokenizer, ids)
                before = tokenizer.encode_from_start(text)
                after = tokenizer.encode_from_start(exchanged(text, share, random.Random(at)))
                pairs = {tuple(pair) for pair in pairwise(before)}
                new.append(np.mean([p not in pairs for p in pairwise(after)]))
                seen.append(detect(after, mark).p <= ALARM)
            found.append(float(np.mean(seen)))
        rows.append(Changed(share, float(np.mean(new)), found))
    return rows


def judge(model: LanguageModel, tokenizer: Tokenizer) -> dict[str, list[float]]:
    """Return the share of errors on texts of which half are the model's, for each judge and set.

    likelihood: the best threshold on the mean log-probability, either way round, of the other sets.
    grammar: whoever knows it exactly, and calls a text the machine's that it cannot write.
    watermark: the alarm, on texts written with the push.
    """
    scores, broken, caught = [], [], []
    for number in range(SETS):
        honest = honest_texts(tokenizer, 2 * JUDGED, SEED + 1 + number)[:JUDGED]
        seeds = [5000 + number * JUDGED + at for at in range(JUDGED)]
        plain, marked = (
            [
                text_of(
                    *(model, tokenizer, tokenizer.start, Watermark(seed, SHARE, push), 1.0, seed)
                ).ids
                for seed in seeds
            ]
            for push in (0.0, PUSH)
        )
        scores.append((_mean_log(model, honest), _mean_log(model, plain)))
        whole = [_first_story(tokenizer, ids) for ids in plain]
        broken.append(sum(kept_characters(text) == len(text) for text in whole) / len(whole) / 2)
        found, false = (
            np.mean([detect(ids, Watermark(seed, SHARE)).p <= ALARM for ids, seed in pairs])
            for pairs in (zip(marked, seeds, strict=True), zip(honest, seeds, strict=True))
        )
        caught.append(float((1 - found + false) / 2))
    likelihood = []
    for number in range(SETS):
        others = [pair for at, pair in enumerate(scores) if at != number]
        own, machine = (np.concatenate(each) for each in zip(*others, strict=True))
        cut, sign = min(
            ((float(cut), sign) for cut in (*own, *machine) for sign in (1, -1)),
            key=lambda one: _errors(own, machine, *one),
        )
        likelihood.append(_errors(*scores[number], cut, sign))
    return {"likelihood": likelihood, "grammar": broken, "watermark": caught}


def _mean_log(model: LanguageModel, texts: Sequence[Text]) -> np.ndarray:
    return np.array(
        [
            log_softmax(target_logits(model, ids))[np.arange(len(ids) - 1), ids[1:]].mean()
            for ids in texts
        ]
    )


def _errors(honest: np.ndarray, plain: np.ndarray, cut: float, sign: int) -> float:
    """Return the share judged wrongly where what lies above the cut is called the machine's."""
    wrong = (sign * honest > sign * cut).mean() + (sign * plain <= sign * cut).mean()
    return float(wrong / 2)


def write_real() -> dict[str, Sample]:
    """Return what the real model writes under the mark behind each prompt."""
    from llmviz.pretrained import obtained

    real, mark, samples = obtained("smollm2"), Watermark(7, SHARE, REAL_PUSH), {}
    for name, prompt in PROMPTS.items():
        start = real.tokenizer.encode_from_start(prompt)
        text = text_of(
            *(real.model, real.tokenizer, start, mark, REAL_HEAT, 0, REAL_TOKENS),
            stop=real.tokenizer.end,
        )
        found = evidence(text.ids, mark)
        samples[name] = Sample(
            prompt,
            [piece.decode("utf-8", "replace") for piece in text.pieces],
            found.green.tolist(),
            found.fresh.tolist(),
            float(np.mean(text.entropies)),
            found.rings(ALARM),
        )
    return samples


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Measure all and write it."""
    import torch
    from tqdm import tqdm

    from llmviz.pretrained import load_bundled

    torch.set_num_threads(1)
    model, tokenizer, _ = load_bundled(MODEL)
    grid = [(float(heat), PUSH) for heat in HEATS]
    grid += [(1.0, push) for push in PUSHES if push != PUSH]
    content = Recorded(
        *false_alarms(tokenizer),
        [measure(model, tokenizer, heat, push) for heat, push in tqdm(grid)],
        change(model, tokenizer),
        judge(model, tokenizer),
        write_real(),
    )
    about: dict[str, Any] = {
        "command": COMMAND,
        "models": [MODEL, OBTAINABLE["smollm2"].title],
        "sets": SETS,
        "texts": TEXTS,
    }
    write_json(folder / FILE, about | asdict(content))


if __name__ == "__main__":
    write_to(make, "Measure the watermark again.")
