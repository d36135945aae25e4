"""A training run from Python: one call, then its curves, its model and its folder."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.api.model import Model, load
from llmviz.config import settings_of
from llmviz.corpus import CORPORA
from llmviz.files.nearest import nearest
from llmviz.files.text import ENDOFTEXT, check_texts
from llmviz.files.whole import write_whole, writing
from llmviz.models.catalogue import DEFAULT, entry_of
from llmviz.training.config import OWN_TEXT, TrainConfig
from llmviz.training.files import removed_if_empty
from llmviz.training.plan import Plan, plan_from, prepare
from llmviz.training.reading import read_metrics
from llmviz.training.run_folder import load_trained, prepare_folder, run_in_folder
from llmviz.training.starting import begin_from, plan_of_base

if TYPE_CHECKING:
    import pandas as pd

NAME_AT_MOST = 200  # characters: a longer text is no name of a corpus or a file
COLUMNS = (
    *("tokens", "train_loss", "validation_loss", "lr", "grad_norm", "tokens_per_second"),
    "seconds",
)


class Run:
    """A run that has ended, in its folder. `model` has its newest weights."""

    def __init__(self, folder: Path, keeps: object = None) -> None:
        self.folder = folder
        self._keeps = keeps  # a temporary folder is there as long as the run

    def __repr__(self) -> str:
        return f"<llmviz.Run {self.folder}: {len(self.curves)} records>"

    @property
    def curves(self) -> pd.DataFrame:
        """One row for each record, by step: losses in nats per token, NaN where not measured.

        Columns: tokens, train_loss, validation_loss, lr, grad_norm, tokens_per_second, seconds.
        """
        import pandas as pd

        records = read_metrics(self.folder)
        columns = {name: [getattr(record, name) for record in records] for name in COLUMNS}
        index = pd.Index([record.step for record in records], name="step")
        return pd.DataFrame(columns, index=index, dtype=float)

    @cached_property
    def model(self) -> Model:
        """The trained model."""
        return Model(load_trained(self.folder), self.folder.name)


def train(
    text_or_files: str | Path | Iterable[str | Path] = "tiny-world",
    model: str = DEFAULT,
    *,
    base: str | Path | Model | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Run:
    """Train a model and return the run once it has ended.

    text_or_files: the name of a bundled corpus, a file, a folder, a pattern such as `*.md`, a text
      (which holds a line end), or several of one kind; several texts are documents of their own.
    model: a name in the catalogue (`llmviz models` on the command line).
    base: a trained model to go on from, with its tokenizer: what `llmviz.load` takes, or a Model.
    out: the folder of the run, new or empty. Without it the run is in a temporary folder that goes
      with the returned object; `run.model.save(folder)` keeps its model.
    progress: a bar on standard error; None shows it in a terminal only.
    settings: any setting of the plan (`tokenizer`, `context_length`, …), of the training (`steps`,
      `batch_size`, `learning_rate`, …) or of the model (`n_layer`, `n_embd`, …).

    A run that is interrupted is saved in `out`; `llmviz train --out OUT --resume` goes on with it.
    Raises: ValueError naming the rule for settings that cannot work, and the nearest names of one
    that does not exist.
    """
    corpus, files, own = _corpus_of(text_or_files)
    if files:
        settings["files"] = files
    if base is not None and not isinstance(base, Model):
        base = load(base)
    plan = _plan(corpus, model, settings, base)
    temporary = None
    if out is None:
        temporary = tempfile.TemporaryDirectory(prefix="llmviz-")
        out = temporary.name
    folder = Path(out)
    with removed_if_empty(folder):
        prepare_folder(folder, resume=False)
        try:
            if own is not None:
                with writing(str(folder)):
                    write_whole(folder / OWN_TEXT, lambda path: path.write_text(own, "utf-8"))
            if base is None:
                prepared = prepare(plan, folder=folder)
            else:
                prepared = begin_from(base._trained, plan, folder)
        except BaseException:
            (folder / OWN_TEXT).unlink(missing_ok=True)
            raise
        _run(folder, prepared, progress)
    return Run(folder, temporary)


def _run(folder: Path, prepared: Any, progress: bool | None) -> None:
    from tqdm import tqdm

    disable = None if progress is None else not progress
    records = run_in_folder(folder, prepared, resume=True)
    bar = tqdm(total=prepared.config.steps, unit="step", disable=disable, file=sys.stderr)
    with bar, contextlib.closing(records):
        for record in records:
            bar.update(record.step - bar.n)
            bar.set_postfix_str(f"train {record.train_loss:.3f}")


def _plan(corpus: str, model: str, settings: dict[str, Any], base: Model | None) -> Plan:
    """The plan of settings, each given to the part that has it."""
    if base is not None and model == DEFAULT:
        model = base.kind
    config = entry_of(model).config
    planned = {field.name for field in fields(Plan)} - {
        "model",
        "model_options",
        "corpus",
        "base",
        "train",
    }
    parts: tuple[tuple[set[str], dict[str, Any]], ...] = (
        (planned, {"model": model, "corpus": corpus}),
        (set(settings_of(TrainConfig)), {}),
        ({field.name for field in fields(config)}, {}),
    )
    for name, value in settings.items():
        for known, chosen in parts:
            if name in known:
                chosen[name] = value
                break
        else:
            near = ", ".join(nearest(name, sorted(set().union(*(known for known, _ in parts)))))
            raise ValueError(f"{model} has no setting {name!r}; nearest are {near}")
    (_, chosen), (_, training), (_, options) = parts
    if base is not None:
        if chosen.pop("model") != base.kind:
            raise ValueError(f"model must be left out: {base.name} is a {base.kind}")
        return plan_of_base(base._trained, {**chosen, "base": base.name}, options, training)
    return plan_from(chosen, options, training)


def _corpus_of(
    given: str | Path | Iterable[str | Path],
) -> tuple[str, tuple[str, ...], str | None]:
    """The corpus of a plan, further files, and the text where that is the caller's own."""
    if isinstance(given, str) and _is_text(given):
        return OWN_TEXT, (), check_texts(given)[0]
    parts = [given] if isinstance(given, str | Path) else list(given)
    if isinstance(given, str) or (parts and all(map(_is_source, parts))):
        first, *more = map(str, parts)
        return first, tuple(more), None
    if not all(isinstance(part, str) for part in parts):
        raise ValueError("give either texts or files, not both; one of the files is not there")
    return OWN_TEXT, (), ENDOFTEXT.join(check_texts([str(part) for part in parts]))


def _is_text(text: str) -> bool:
    return "\n" in text or len(text) > NAME_AT_MOST


def _is_source(source: str | Path) -> bool:
    """Whether an item is a file, a folder, a pattern or the name of a corpus."""
    if isinstance(source, Path):
        return True
    try:
        return not _is_text(source) and (source in CORPORA or Path(source).exists())
    except (OSError, ValueError):  # a name that no file can have
        return False
