"""From a handful of choices to a run that is ready to start, and the same run again later."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from llmviz.corpus.pieces import recut
from llmviz.corpus.streamed import Documents, pieces_in
from llmviz.models import build
from llmviz.models.catalogue import DEFAULT, MODELS, entry_of
from llmviz.models.memory_limits import check_memory, check_sizes
from llmviz.models.registry import bytes_needed
from llmviz.nn.lora import add_adapter
from llmviz.nn.lora_config import LoraConfig
from llmviz.tokenizers import TOKENIZERS, TRAINERS, get_tokenizer, train_tokenizer
from llmviz.tokenizers.base import KINDS
from llmviz.training.builders import Material
from llmviz.training.config import ONE_A_ROW, Plan, TrainConfig
from llmviz.training.data import Tell, nobody
from llmviz.training.errors import CheckpointError
from llmviz.training.estimate import check_room
from llmviz.training.reading import CHAT, FORK, LORA
from llmviz.training.references import KEY as REFERENCES
from llmviz.training.references import SAMPLE, WORLDS
from llmviz.training.run_folder import Run, describe, read_description, read_tokenizer
from llmviz.training.settings_file import following
from llmviz.training.stream import BLOCK
from llmviz.training.texts import Texts, texts_of

__all__ = ["Plan", "documents_of", "plan_from", "plan_of", "prepare", "prepare_again"]

PAIRS = "pairs"  # the corpus of sentences with their translations
TOKENIZER_TEXT = 4_000_000  # a BPE is trained on at most so many characters of the corpus


def plan_from(planned: dict[str, Any], options: dict[str, Any], changes: dict[str, Any]) -> Plan:
    """The plan of what was chosen of a plan, of a model and of training; the rest as it suits."""
    entry = entry_of(planned.get("model", DEFAULT))
    changes = {**entry.suited_training, **changes}
    rate, steps = (
        changes.get(name, getattr(TrainConfig, name)) for name in ("learning_rate", "steps")
    )
    changes = {**following(rate, steps), **changes}
    return Plan(
        **{**entry.suited_plan, **planned}, model_options=options, train=TrainConfig(**changes)
    )


def prepare(
    plan: Plan,
    command: str = "",
    folder: Path | None = None,
    *,
    tell: Tell = nobody,
    tokenizer: Any = None,
) -> Run:
    """Load the corpus, train the tokenizer, encode, build the model from the seed.

    folder: that of the run, where its corpus is a text that lies there (OWN_TEXT).
    tokenizer: one that is there already, in place of the plan's.
    tell: hears what is being done, and how much of it there is.
    Raises ValueError naming the rule for choices that cannot work together.
    """
    entry_of(plan.model)
    texts = texts_of(plan, folder, tell)
    check_kind(plan, pairs=holds_pairs(texts.train))
    if tokenizer is None:
        tokenizer = _tokenizer(plan, texts, tell)
    return _assemble(Material(plan, entry_of(plan.model), tokenizer, texts, tell), command)


def prepare_again(folder: Path | str, tell: Tell = nobody, **changes: Any) -> Run:
    """The run that a folder's config.json describes, with its own tokenizer.

    tell: as for `prepare`.
    changes: fields of TrainConfig to set anew, such as steps=2000.
    Raises CheckpointError if the folder is not a run, ValueError if its corpus has changed.
    """
    path = Path(folder)
    description = read_description(path)
    plan = plan_of(description, str(path))
    plan = dataclasses.replace(plan, train=dataclasses.replace(plan.train, **changes))
    texts = texts_of(plan, path, tell)
    now, before = texts.kept.digest, description["data"].get("sha256")
    if before is not None and now != before:
        raise ValueError(f"the corpus {plan.corpus} is not the one that {path} was trained on")
    command = description.get("command", "")
    given = Material(plan, entry_of(plan.model), read_tokenizer(path), texts, tell)
    run = _assemble(given, command)
    for part in (FORK, CHAT):
        if part in description:
            run.description[part] = description[part]
    return run


def plan_of(description: dict[str, Any], source: str) -> Plan:
    """The plan in a config.json; CheckpointError if it has none, or no model or data."""
    if "plan" not in description:
        raise CheckpointError(
            f"{source} has no plan that can be trained again: it was not trained by `train`"
        )
    try:
        for part in (description["model"]["config"], description["data"]):
            if not isinstance(part, dict):
                raise TypeError(f"{part!r} is not a list of settings")
        return Plan.from_dict(description["plan"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{source} has no plan that can be trained again: {error}") from error


def documents_of(
    plan: Plan, folder: Path | None = None, tell: Tell = nobody
) -> tuple[list[Any], list[Any]]:
    """The training and the validation documents of a plan, in memory; for `pairs`, of pairs.

    folder: that of the run, where its corpus is a text that lies there (OWN_TEXT).
    """
    texts = texts_of(plan, folder, tell)
    return list(texts.train), list(texts.validation)


def check_corpus(plan: Plan, folder: Path | None = None) -> tuple[list[Any], int]:
    """The training documents of a plan and how many tokens they hold at most.

    Raises ValueError where the text is too short to be split, or not longer than the context.
    """
    if plan.corpus == PAIRS:  # said before 20,000 of them are made
        check_kind(plan, pairs=True)
    if plan.corpus in WORLDS:  # of one alphabet, and longer than any context
        plan = dataclasses.replace(plan, corpus=SAMPLE, characters=None)
    train, _ = documents_of(plan, folder)
    check_kind(plan, pairs=holds_pairs(train))
    characters = sum(len(text) if isinstance(text, str) else sum(map(len, text)) for text in train)
    most = characters + len(train) + 1  # no tokenizer makes more tokens than there are characters
    if plan.windows not in ONE_A_ROW and len(train) == 1 and most <= plan.context_length:
        raise ValueError(
            f"the training text must be longer than the context; got {characters:,} characters "
            f"for context_length={plan.context_length}"
        )
    return train, most


def holds_pairs(documents: Sequence[Any] | Documents) -> bool:
    """Whether documents are sentences with their translations, and not texts."""
    if isinstance(documents, Documents):
        return False
    return bool(documents) and not isinstance(documents[0], str)


def check_kind(plan: Plan, *, pairs: bool) -> None:
    """Raise ValueError where a model that translates meets plain texts, or the other way round."""
    translates = entry_of(plan.model).translates
    if translates and not pairs:
        raise ValueError(
            f"{plan.model} translates, so its corpus must be pairs of sentences; got {plan.corpus}"
        )
    if pairs and not translates:
        learns = " or ".join(name for name, entry in MODELS.items() if entry.translates)
        raise ValueError(
            f"corpus {plan.corpus} holds sentences with their translations, which {learns} learns; "
            f"got model={plan.model}"
        )


def _tokenizer(plan: Plan, texts: Texts, tell: Tell) -> Any:
    if plan.tokenizer not in TRAINERS:
        if plan.tokenizer not in TOKENIZERS:
            names = ", ".join(dict.fromkeys((*TRAINERS, *TOKENIZERS)))
            raise ValueError(f"tokenizer must be one of {names}; got {plan.tokenizer!r}")
        if plan.vocab_size is not None:
            raise ValueError(
                f"vocab_size must be left out for a tokenizer that has its own; "
                f"got tokenizer={plan.tokenizer}"
            )
        return get_tokenizer(plan.tokenizer)

    def make() -> Any:
        what = f"training the tokenizer {plan.tokenizer}"
        if plan.tokenizer == "bpe":
            beginning = _beginning(texts.train)
            tell(what, 0, sum(map(len, beginning)), "characters")
            return train_tokenizer(plan.tokenizer, beginning, plan.vocab_size)
        return train_tokenizer(plan.tokenizer, _told(plan, texts, tell, what), plan.vocab_size)

    return texts.kept.tokenizer(plan.tokenizer, plan.vocab_size, make)


def _beginning(documents: Sequence[Any] | Documents) -> list[str]:
    """Documents until there are TOKENIZER_TEXT characters; of a longer one, its beginning."""
    texts, parts, taken = [], [], 0
    for text, ends in pieces_in(_as_texts(documents)):
        parts.append(text)
        taken += len(text)
        if ends or taken > TOKENIZER_TEXT:
            texts.append("".join(parts))
            parts = []
        if taken > TOKENIZER_TEXT:
            break
    return texts


def _told(plan: Plan, texts: Texts, tell: Tell, what: str) -> Iterator[str]:
    """All texts to learn from, long ones in parts that no token crosses."""
    done = 0
    cut: Any = KINDS[plan.tokenizer].cut  # of their classes, too
    for text, _ in recut(pieces_in(_as_texts(texts.train)), cut, BLOCK):
        tell(what, done, texts.kept.characters, "characters")
        done += len(text)
        yield text


def _as_texts(documents: Sequence[Any] | Documents) -> Iterable[str]:
    """Documents; each pair of sentences is one text."""
    if not holds_pairs(documents):
        return documents
    return ["\n".join(pair) for pair in documents]


def _assemble(given: Material, command: str) -> Run:
    plan, tokenizer = given.plan, given.tokenizer
    # the data first: a context that is longer than the text is refused before it costs memory
    data, options, counted = given.entry.data_builder(given)
    plan = dataclasses.replace(plan, windows=getattr(data, "windows", plan.windows))
    torch.manual_seed(plan.train.seed)
    check_sizes(plan.model, options)
    check_memory(bytes_needed(plan.model, options), f"a {plan.model} of these sizes")
    check_room(plan, tokenizer.vocab_size, data.longest_row)
    model = build(plan.model, options)
    about = {
        "corpus": plan.corpus,
        "documents": len(given.texts.train),
        "validation_documents": len(given.texts.validation),
        "sha256": given.texts.kept.digest,
    }
    if counted is not None:
        about[REFERENCES] = counted.to_dict()
    description = describe(plan.model, model, tokenizer, plan.train, about, command)
    if plan.lora:
        adapters = LoraConfig(rank=plan.lora)
        add_adapter(model, adapters, seed=plan.train.seed)
        description[LORA] = adapters.to_dict()
    return Run(model, tokenizer, data, plan.train, {**description, "plan": plan.to_dict()})
