"""Models that are trained already: bundled checkpoints, runs, GPT-2 in its published format."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from llmviz.files.paths import CHECKPOINTS, HUB
from llmviz.files.whole import write_whole, writing
from llmviz.finetuning.tuned import load_body, load_tuned, tuning_folder
from llmviz.models.base import LanguageModel
from llmviz.models.catalogue import CLASSIFIER
from llmviz.models.gguf_file import GGUFFile, is_gguf
from llmviz.models.gguf_format import chat_of, load_gguf
from llmviz.models.gpt import GPT
from llmviz.models.published import (
    describe_published,
    is_published,
    load_published,
    read_chat,
)
from llmviz.models.published_files import cached_folder, find_folder, is_adapter
from llmviz.obtainable.catalogue import OBTAINABLE, how_to_get, path_of
from llmviz.publishing.form import gpt_of
from llmviz.publishing.onto_base import with_adapter
from llmviz.quantization.files import QUANTIZATION
from llmviz.runs.named import find_checkpoint
from llmviz.runs.store import PREFIX, find_run, run_card, split_name
from llmviz.tokenizers import Tokenizer, get_tokenizer, read_published_tokenizer
from llmviz.tokenizers.gguf_tokenizer import gguf_tokenizer
from llmviz.tokenizers.published import MERGES, VOCABULARY, WHOLE, has_tokenizer
from llmviz.training.config import TrainConfig
from llmviz.training.errors import CheckpointError
from llmviz.training.files import (
    read_json,
    removed_if_empty,
    whole_folder,
    write_json,
    write_manifest,
)
from llmviz.training.reading import CHAT, CONFIG, METRICS, MODEL, TOKENIZER
from llmviz.training.run_folder import Trained, describe, load_trained, prepare_folder
from llmviz.training.tensors import save_tensors

CARD = "card.json"
GENERATION = "generation_config.json"  # beside a published model
GPT2_TOKENS = 50257

__all__ = [
    "CHECKPOINTS",
    "bundled",
    "find_base",
    "find_model",
    "import_gpt2",
    "is_imported",
    "load_bundled",
    "load_with_notes",
    "published",
    "published_tokenizer",
    "read_card",
    "save_trained",
    "write_imported",
]


def bundled() -> list[str]:
    """Return the names of the bundled checkpoints, in alphabetical order; no weights are read."""
    if not CHECKPOINTS.is_dir():
        return []
    return sorted(path.parent.name for path in CHECKPOINTS.glob(f"*/{CARD}"))


def read_card(name: str) -> dict[str, Any]:
    """Return the card of a bundled checkpoint: how it was trained and what it reached.

    Raises: ValueError when there is no such checkpoint or its card cannot be read.
    """
    return read_json(_folder(name) / CARD)


def load_bundled(name: str) -> tuple[LanguageModel, Tokenizer, dict[str, Any]]:
    """Return the model (eval mode, float32, CPU), the tokenizer and the card of a checkpoint.

    name: that of a bundled one or of one that `get` fetched, FAMILY/NAME for one of a family,
      `run:NAME` for a run in the folder of runs, `run:NAME@STEP` for one of its kept checkpoints.
    Each call reads the files anew; a page keeps what it got and changes nothing in it.

    Raises: ValueError naming what is missing or damaged.
    """
    trained, card = load_with_notes(name)
    return trained.model, trained.tokenizer, card


def load_with_notes(name: str) -> tuple[Trained, dict[str, Any]]:
    """Return the same as `load_bundled`, with what is to be known of the files: `Trained.notes`.

    Of a classifier it is the gpt without the head: what a lesson looks into.
    """
    if name.startswith(PREFIX):
        card = run_card(name)
        if card["model"] == CLASSIFIER:
            return load_body(find_run(name), find_base), card
        return find_model(name), card
    if name in OBTAINABLE:
        return obtained(name), OBTAINABLE[name].card()
    card = read_card(name)
    return load_trained(_folder(name)), card


def published(folder_or_repo_id: str | Path) -> Trained:
    """Return a model in a published format, with the tokenizer of its folder or GGUF file.

    A folder without a tokenizer has GPT-2's, if its vocabulary is as large. An adapter in peft's
    layout is added into its base.

    Raises: ValueError where `load_published` and `read_published_tokenizer` do, and where there is
    no tokenizer for the model.
    """
    if is_gguf(folder_or_repo_id):
        return _from_gguf(Path(folder_or_repo_id))
    folder = find_folder(folder_or_repo_id)
    if is_adapter(folder):
        tuned = with_adapter(folder, partial(_base_of_adapter, folder))
        chat = read_chat(folder) or tuned.description.get(CHAT)
        return _described(gpt_of(tuned), tuned.tokenizer, chat)
    model = load_published(folder)
    return _described(model, published_tokenizer(folder, model.vocab_size), read_chat(folder))


def obtained(name: str) -> Trained:
    """Return a model that `get` fetched.

    Raises: ValueError saying how to get one that is not here, or what is wrong with its file.
    """
    if (path := path_of(name)) is None:
        raise CheckpointError(how_to_get(name))
    return published(path)


def obtained_tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of a model that `get` fetched. Raises: ValueError as `obtained`."""
    if (path := path_of(name)) is None:
        raise CheckpointError(how_to_get(name))
    if path.is_dir():
        return published_tokenizer(path, describe_published(path).vocab_size)
    return _tokenizer_in(_opened(path, _changed(path)))


@lru_cache(1)  # a page asks for the tokenizer first, and reading 100,000 texts takes a second
def _opened(path: Path, _: int) -> GGUFFile:
    return GGUFFile(path)


def _changed(path: Path) -> int:
    """When a file was written; 0 for one that is not there, of which reading it tells."""
    return path.stat().st_mtime_ns if path.exists() else 0


def _from_gguf(path: Path) -> Trained:
    file = _opened(path, _changed(path))
    model = load_gguf(file, GPT)
    return _described(model, _tokenizer_in(file), chat_of(file.fields))


def _tokenizer_in(file: GGUFFile) -> Tokenizer:
    try:
        return gguf_tokenizer(file.fields, file.vocab_size)
    except ValueError as error:
        raise ValueError(f"{file.path}: {error}") from error


def _described(model: GPT, tokenizer: Tokenizer, chat: dict[str, Any] | None) -> Trained:
    # What it was trained on, and how, its files do not say.
    unsaid = {"corpus": "unknown", "documents": None, "context_length": model.context_length}
    described = describe("gpt", model, tokenizer, TrainConfig(), unsaid)
    described |= {"train": {"steps": 0, "seed": None}}
    if chat is not None:
        described[CHAT] = chat
    return Trained(model, tokenizer, described)


def published_tokenizer(folder: Path, vocab_size: int) -> Tokenizer:
    """Return the tokenizer of a folder, or GPT-2's where it has none and as many tokens.

    Raises: ValueError where there is none for so many tokens, or it cannot be read.
    """
    if has_tokenizer(folder):
        config = read_json(folder / CONFIG)
        if (folder / GENERATION).is_file():  # what it says of tokens counts before the config
            said = {k: v for k, v in read_json(folder / GENERATION).items() if v is not None}
            config |= {k: said[k] for k in ("bos_token_id", "eos_token_id") if k in said}
        ends, lone = config.get("eos_token_id"), config.get("bos_token_id")
        ends = ends if isinstance(ends, list) else [ends]
        return read_published_tokenizer(folder, vocab_size, ends, lone)
    if vocab_size != GPT2_TOKENS:
        raise ValueError(
            f"{folder} has no tokenizer ({WHOLE}, or {VOCABULARY} and {MERGES}), and its "
            f"{vocab_size:,} tokens are not GPT-2's {GPT2_TOKENS:,}"
        )
    tokenizer = copy(get_tokenizer("gpt2"))
    tokenizer.front = ()  # GPT-2's own tokenizer puts nothing in front of a text
    return tokenizer


def find_model(name: str | Path) -> Trained:
    """Return the model that a name or a folder stands for.

    name: of a bundled model or one that `get` fetched, `run:NAME` for a run in the folder of runs,
      `hub:OWNER/NAME` for a repository, or a folder: a run, a fine-tuning, or a model in a
      published format; or a GGUF file. An adapter is merged into its base.
    Raises: ValueError naming what is missing or damaged, the nearest names, and a classifier, which
    writes nothing.
    """
    called = str(name)
    if (folder := tuning_folder(name)) is not None:
        return load_tuned(folder, find_base)
    if called.startswith(HUB):
        return published(called.removeprefix(HUB))
    if called.startswith(PREFIX):
        return load_trained(find_run(called), split_name(called)[1])
    if is_gguf(called):
        return published(called)
    if called in OBTAINABLE and not Path(called).is_dir():
        return obtained(called)
    folder = find_checkpoint(called)
    reads = published if is_published(folder) or is_adapter(folder) else load_trained
    return reads(folder)


def find_base(name: str) -> Trained:
    """Return the model that a fine-tuning begins from: as `find_model`, bundled ones first."""
    if name in bundled() or name in OBTAINABLE:
        return load_with_notes(name)[0]
    try:
        return find_model(name)
    except CheckpointError as error:
        raise CheckpointError(f"base cannot be read: {error}") from error


def _base_of_adapter(adapter: Path, name: str) -> Trained:
    """The base that an adapter names: as `find_base`, or a repository that is in the cache."""
    beside = adapter / name
    for folder in (Path(name), beside):
        if folder.is_dir():
            if folder.resolve() == adapter.resolve():
                raise CheckpointError(f"{adapter} says that it begins from itself")
            return find_model(str(folder))
    cached = None
    with suppress(ValueError):  # no repository is called so
        cached = cached_folder(name)
    if cached is not None:
        return published(cached)
    try:
        return find_base(name)
    except CheckpointError as error:
        raise CheckpointError(
            f"{adapter} is an adapter, and its base {name} is not here; `llmviz import "
            f"{HUB}{name} --out FOLDER` gets it, or merge both with peft (merge_and_unload) and "
            "give that folder"
        ) from error


def save_trained(trained: Trained, folder: Path) -> Path:
    """Write a model to a new folder as a run, its weights as float32; return the folder.

    Raises ValueError where the folder holds files already or cannot be written.
    """
    with removed_if_empty(folder):
        prepare_folder(folder, resume=False)
        # Packed codes were unpacked when the model was read.
        said = {k: v for k, v in trained.description.items() if k != QUANTIZATION}
        write_imported(Trained(trained.model, trained.tokenizer, said), folder)
    return folder


def import_gpt2(folder_or_repo_id: str | Path, out: str | Path, command: str = "") -> Trained:
    """Write a model in a published format to `out` as a run, and return it.

    The app offers it like any run, its weights are the published ones, and it has no curve and
    cannot go on. What was interrupted leaves nothing.

    Raises: ValueError as `published`, and where `out` holds files already or cannot be written.
    """
    folder = Path(out)
    new = not folder.exists()
    prepare_folder(folder, resume=False)
    try:
        trained = published(folder_or_repo_id)
    except BaseException:
        if new:
            folder.rmdir()
        raise
    write_imported(trained, folder, command)
    return trained


def write_imported(trained: Trained, folder: Path, command: str = "") -> None:
    """Write a published model into an empty folder as a run; raises ValueError where it cannot."""
    said = {"command": command} if command else {}
    with writing(str(folder)), whole_folder(folder) as new:
        save_tensors(new / MODEL, trained.model.state_dict())
        write_whole(new / TOKENIZER, trained.tokenizer.save)
        write_whole(new / METRICS, lambda path: path.write_text(""))
        write_json(new / CONFIG, {"command": "", **trained.description, **said})
        write_manifest(new, [MODEL, TOKENIZER, METRICS, CONFIG])


def is_imported(description: Mapping[str, Any]) -> bool:
    """Whether a run's description is that of an imported model: no step of it was trained here."""
    train = description.get("train")
    return isinstance(train, dict) and train.get("steps") == 0


def _folder(name: str) -> Path:
    known = bundled()
    families = {path.parent for path in CHECKPOINTS.glob(f"*/*/{CARD}")}
    if name not in known and CHECKPOINTS / name not in families:
        listed = f"there are {', '.join(known)}" if known else "none is in this copy"
        raise CheckpointError(f"no bundled checkpoint is called {name!r}; {listed}")
    return CHECKPOINTS / name
