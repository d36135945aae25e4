"""Reward models by the number of pairs and by mistakes of the labeller, and what fools one.

Makes what `llmviz.course.lessons.reasoning.preference.preference_record` reads.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments._command import write_to
from experiments._pair_kinds import pairs_of_kind
from llmviz.course.lessons.reasoning.preference import preference_model
from llmviz.course.lessons.reasoning.preference.best_of_n import COUNTS, Curve, best_of
from llmviz.course.lessons.reasoning.preference.preference_model import (
    COMMAND,
    LABELLER,
    LONGEST,
    PAIRS,
    SEED,
)
from llmviz.course.lessons.reasoning.preference.preference_texts import (
    KINDS,
    Judged,
    good_endings,
    judged,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.labeller import Labeller, clean_pairs, stories, whole, words_of
from llmviz.finetuning.preferences import Pair
from llmviz.training.files import read_json, write_json
from llmviz.training.measures import Share

if TYPE_CHECKING:
    from llmviz.finetuning.reward_model import Read, RewardTop
    from llmviz.models.gpt import GPT
from llmviz.course.lessons.reasoning.preference.preference_record import (
    ALL,
    CONFIDENCES,
    CURVE_SEED,
    CURVE_STORIES,
    FILE,
    GOOD,
    HELD_OUT_SEED,
    KIND_SEED,
    LONGER,
    ROUNDS,
    SAMPLES,
    SEARCH_SAMPLES,
    SEARCH_SEED,
    SEARCHES,
    SEEDS,
    SHORTER,
    SIZES,
    Run,
    Search,
    settings,
)

UPDATES = {50: 60, 200: 100, PAIRS: 150}


HELD_OUT, OF_KIND = 300, 100  # pairs


def in_bins(apart: np.ndarray, agreed: np.ndarray) -> tuple[tuple[int, float, int], ...]:
    """Sum up pairs by how sure the model is: differences of rewards (N,), and whether it agrees."""
    sure = 1 / (1 + np.exp(-np.abs(apart)))
    at = np.minimum(np.digitize(sure, CONFIDENCES) - 1, len(CONFIDENCES) - 2)
    return tuple(
        (int((at == level).sum()), float(sure[at == level].sum()), int(agreed[at == level].sum()))
        for level in range(len(CONFIDENCES) - 1)
    )


def curve_of(rewards: Sequence[Sequence[float]], truth: Sequence[Sequence[Judged]]) -> Curve:
    """Return the curve of samples of several stories."""

    def along(values: Sequence[Sequence[float]]) -> tuple[float, ...]:
        pairs = list(zip(rewards, values, strict=True))
        return tuple(
            round(float(np.mean([best_of(*pair, n) for pair in pairs])), 4) for n in COUNTS
        )

    return Curve(
        along([np.asarray(some) - np.mean(some) for some in rewards]),
        along([[float(ending.good) for ending in some] for some in truth]),
        along([[float(ending.mood > 0) for ending in some] for some in truth]),
        along([[float(ending.grammatical) for ending in some] for some in truth]),
    )


class Maker:
    """Makes reward models and measures them; texts are read once."""

    def __init__(self, folder: Path = EXPERIMENT_FOLDER, *, runs: bool = True) -> None:
        from llmviz.finetuning.reward_model import lower_part

        self.folder, self.whole_seeds = folder, runs
        self.base, self.tokenizer = preference_model.story_model()
        self.lower = lower_part(self.base)
        self.tests: dict[str, tuple[Read, Read]] = {}
        if runs:
            self.held_out = clean_pairs(HELD_OUT, HELD_OUT_SEED)
            self.tests[ALL] = self._read(self.held_out)
            for kind in KINDS:
                self.tests[kind] = self._read(pairs_of_kind(kind, OF_KIND, KIND_SEED))
        self.tops: dict[tuple[int, int], RewardTop] = {}
        self._learned: tuple[int, list[Pair], tuple[Read, Read]] | None = None

    def _read(self, pairs: Sequence[Pair]) -> tuple[Read, Read]:
        from llmviz.finetuning.reward_model import read_pairs

        texts = [(whole(pair.story, pair.better), whole(pair.story, pair.worse)) for pair in pairs]
        return read_pairs(self.lower, self.tokenizer, texts)

    def learned(self, pairs: int, by_length: float, wrong: float, seed: int) -> RewardTop:
        """Let a reward model learn."""
        from llmviz.finetuning.reward_model import learn_preferences

        if self._learned is None or self._learned[0] != seed or len(self._learned[1]) < pairs:
            drawn = clean_pairs(PAIRS, seed)[: PAIRS if self.whole_seeds else pairs]
            self._learned = seed, drawn, self._read(drawn)
        _, drawn, (better, worse) = self._learned
        labels = Labeller(by_length, wrong).labels(drawn, seed)[:pairs]
        both = better.first(pairs), worse.first(pairs)
        return learn_preferences(self.base, self.lower, both, labels, UPDATES[pairs], seed)

    def run(self, pairs: int, by_length: float, wrong: float, seed: int) -> Run:
        """Make a reward model and measure it; the one that is bundled is kept."""
        top = self.learned(pairs, by_length, wrong, seed)
        if Labeller(by_length, wrong) == LABELLER:
            self.tops[pairs, seed] = top
        bundled = (pairs, Labeller(by_length, wrong)) == (PAIRS, LABELLER)
        tests = self.tests if bundled else {ALL: self.tests[ALL]}
        apart = {kind: self._apart(top, both) for kind, both in tests.items()}
        longer = np.array([words_of(p.better) - words_of(p.worse) for p in self.held_out])
        held = apart[ALL]
        apart |= {LONGER: held[longer > 0], SHORTER: held[longer < 0]}
        said = np.array(Labeller(by_length, wrong).labels(self.held_out, HELD_OUT_SEED + seed))
        agreed = (held > 0) == said
        return Run(
            pairs,
            by_length,
            wrong,
            seed,
            {kind: Share(int((gaps > 0).sum()), len(gaps)) for kind, gaps in apart.items()},
            Share(int(agreed.sum()), len(agreed)),
            in_bins(held, agreed),
        )

    def _apart(self, top: RewardTop, both: tuple[Read, Read]) -> np.ndarray:
        from llmviz.finetuning.reward_model import rewards_of

        better, worse = (rewards_of(self.lower, top, read) for read in both)
        return (better - worse).numpy()

    def top_of(self, pairs: int, seed: int) -> RewardTop:
        """The model of LABELLER with so many pairs: the bundled one, one of these runs, or anew."""
        if (pairs, seed) == (PAIRS, SEED):
            return preference_model.bundled_top(self.base, self.folder)
        if (pairs, seed) not in self.tops:
            self.tops[pairs, seed] = self.learned(pairs, LABELLER.by_length, LABELLER.wrong, seed)
        return self.tops[pairs, seed]

    def curves(self) -> list[dict[str, Any]]:
        """The best of n samples by reward models of the fewest and of the most pairs."""
        from llmviz.course.lessons.reasoning.preference.reward_search import samples_of
        from llmviz.finetuning.reward_model import Endings, reward_gpt

        texts = stories(CURVE_STORIES, CURVE_SEED)
        drawn = samples_of(self.base, self.tokenizer, texts, SAMPLES, CURVE_SEED)
        truth = [
            [judged(story, ending) for ending in some]
            for story, some in zip(texts, drawn, strict=True)
        ]
        found = []
        for pairs in (SIZES[0], SIZES[-1]):
            for seed in SEEDS:
                model = reward_gpt(self.base, self.top_of(pairs, seed))
                rewards = [
                    Endings(model, self.tokenizer, story, LONGEST).rewards(some)
                    for story, some in zip(texts, drawn, strict=True)
                ]
                found.append({"pairs": pairs, "seed": seed} | asdict(curve_of(rewards, truth)))
        return found

    def search(self, story: str, seed: int, model: GPT) -> dict[str, Any]:
        """One search for a story of the grammar."""
        from llmviz.course.lessons.reasoning.preference.reward_search import search
        from llmviz.finetuning.reward_model import Endings

        good = good_endings(story, GOOD, seed)
        best = max(Endings(model, self.tokenizer, story, LONGEST).rewards(good))
        models = self.base, model, self.tokenizer
        steps = list(search(models, story, good[0], SEARCH_SAMPLES, ROUNDS, seed))
        rewards = steps[0].reward, steps[1].reward, steps[-1].reward, best
        first, sampled, last, best = (round(reward, 3) for reward in rewards)
        truth = steps[-1].truth
        return asdict(
            Search(
                story, steps[-1].ending, first, sampled, last, best, truth.mood, truth.grammatical
            )
        )


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Make all; the file is written after each part, and what it has is not made again."""
    from tqdm import tqdm

    path = folder / FILE
    content: dict[str, Any] = {
        "command": COMMAND,
        "seconds": 0.0,
        "runs": [],
        "searches": [],
        "curves": [],
    }
    if path.is_file():
        content = read_json(path)
    begun = time.perf_counter()

    def keep() -> None:
        nonlocal begun
        now = time.perf_counter()
        content["seconds"] = round(content["seconds"] + now - begun, 1)
        begun = now
        write_json(path, content)

    done = {(run["pairs"], run["by_length"], run["wrong"], run["seed"]) for run in content["runs"]}
    wanted = [setting for setting in settings() if setting not in done]
    maker = Maker(folder, runs=bool(wanted))
    for setting in tqdm(wanted, unit="run"):
        content["runs"].append(_packed(maker.run(*setting)))
        keep()
        if (PAIRS, SEED) in maker.tops and setting == wanted[0]:
            preference_model.save(maker.tops[PAIRS, SEED], folder)
    if not content["curves"]:
        content["curves"] = maker.curves()
        keep()
    model = preference_model.reward_model(maker.base, folder)
    drawn = stories(2 * SEARCHES, SEARCH_SEED)
    chosen = [story for story in drawn if good_endings(story, 2)][:SEARCHES]
    for at in tqdm(range(len(content["searches"]), SEARCHES), unit="search"):
        content["searches"].append(maker.search(chosen[at], at, model))
        if at % 10 == 9:
            keep()
    keep()


def _packed(run: Run) -> dict[str, Any]:
    right = {kind: f"{share.right}/{share.count}" for kind, share in run.right.items()}
    agreed = f"{run.agreed.right}/{run.agreed.count}"
    bins = [[count, round(total, 3), hits] for count, total, hits in run.bins]
    return asdict(run) | {"right": right, "agreed": agreed, "bins": bins}


if __name__ == "__main__":
    write_to(make, "Make the reward models of preferences again.")
