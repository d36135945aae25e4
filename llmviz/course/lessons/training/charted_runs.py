"""The runs that a chart can show, and the known losses that each is compared with."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from llmviz.course.lessons.training import words as words
from llmviz.course.lessons.training.loss_unit import counted
from llmviz.course.ui import engine, kit, runs
from llmviz.course.ui.rerun import once
from llmviz.models.catalogue import able
from llmviz.runs import store
from llmviz.training import reading
from llmviz.training.config import Plan
from llmviz.training.curves import Curve, CurveFile
from llmviz.training.forks import fork_of
from llmviz.training.references import KEY, References, references_again

FIRST = "names-gpt"  # what is looked at before there is a run of one's own


@dataclass(frozen=True)
class ChartedRun:
    """A run that can be drawn: its name in links, its folder, its config.json, its curve."""

    name: str
    folder: Path
    description: dict[str, Any]
    curve: Curve

    @property
    def is_bundled(self) -> bool:
        """Whether it comes with the project."""
        return not self.name.startswith(store.PREFIX)

    @property
    def label(self) -> str:
        return label(self.name)

    @property
    def steps(self) -> int:
        """Updates that it is to make."""
        return self.description["train"].get("steps", 0)

    @property
    def counted(self) -> str:
        """Over what its loss is a mean: a token, or a pair of words."""
        return counted(self.description)

    @property
    def plan(self) -> Plan | None:
        """What it trains on what, if it can be trained again."""
        return reading.plan_in(self.description)

    @property
    def fork(self) -> dict[str, Any] | None:
        """Where it was forked, if it was."""
        return fork_of(self.description)

    @property
    def wrong(self) -> str:
        """One line on how it went wrong; "" where it did not."""
        return reading.went_wrong(self.folder)

    def saved(self) -> list[int]:
        return [step for step, _ in reading.steps_saved(self.folder)]


def available() -> list[str]:
    """The names of all runs that can be drawn: this visitor's, the kept ones, the bundled ones."""
    own = [store.PREFIX + run.name for run in runs.mine()]
    others = [store.PREFIX + name for name in runs.kept_names()]
    trained = [name for name in engine.names() if name not in engine.obtained()]
    return list(dict.fromkeys([*own, *others, *trained]))


def folder_of(name: str) -> Path:
    """Where a run lies. Raises ValueError in one line where there is none."""
    if name.startswith(store.PREFIX):
        return store.find_run(name)
    if name not in engine.names() or name in engine.obtained():
        raise ValueError(f"there is no run {name[:80]!r} here")
    return engine.CHECKPOINTS / name


@once
def read(name: str) -> ChartedRun:
    """A run as it stands now. Raises ValueError in one line where it cannot be read."""
    folder = folder_of(name)
    return ChartedRun(name, folder, description_of(folder), _file(str(folder)).read())


@once
def description_of(folder: Path) -> dict[str, Any]:
    """A run's config.json, read once as long as it stays the same; nobody may change it.

    Raises CheckpointError where it cannot be read.
    """
    try:
        about = (folder / reading.CONFIG).stat()
    except OSError:  # reading it says what is wrong
        return reading.read_description(folder)
    return _described(str(folder), about.st_mtime_ns, about.st_size, about.st_ino)


@lru_cache(maxsize=512)
def _described(folder: str, changed: int, size: int, file: int) -> dict[str, Any]:
    return reading.read_description(Path(folder))


@kit.cached(256)
def _file(folder: str) -> CurveFile:
    return CurveFile(Path(folder))


def label(name: str) -> str:
    """What a run is called: a visitor's by its number and content, others by their name."""
    plain = store.split_name(name)[0]
    known = runs.manager().run(plain) if name.startswith(store.PREFIX) else None
    if known is not None:
        return runs.label(known)
    return words.run_chart_private if store.is_private(name) else plain


def is_growing(name: str) -> bool:
    """Whether a run may get more points by itself; also one that has none yet."""
    if not name.startswith(store.PREFIX):
        return False
    known = runs.manager().run(store.split_name(name)[0])
    if known is not None:
        return known.active
    try:
        return store.is_written(store.find_run(name))
    except ValueError:  # deleted in between
        return False


def references_of(run: ChartedRun) -> tuple[References, str] | None:
    """What a run's loss is compared with, and the text that was counted; None where unknown."""
    data = run.description["data"]
    corpus = runs.corpus_label(data["corpus"])
    counted: tuple[References, str] | None
    if KEY in data:
        counted = References.from_dict(data[KEY]), corpus
    else:
        model = run.description["model"]["name"]
        if not able(model, "next_token") or run.plan is None:
            return None
        try:
            stamps = _stamps(run.folder)
        except OSError:  # without its tokenizer nothing can be counted
            return None
        counted = _counted(str(run.folder), stamps)
    return _with_floor_of_card(counted, run) if counted and run.is_bundled else counted


@once
def _stamps(folder: Path) -> tuple[int, ...]:
    return tuple((folder / name).stat().st_mtime_ns for name in (reading.CONFIG, reading.TOKENIZER))


def _with_floor_of_card(counted: tuple[References, str], run: ChartedRun) -> tuple[References, str]:
    """A bundled model's card knows the floor of all texts that the model was scored on."""
    card = kit.card_of(run.name)  # a short run that went wrong on purpose has none there
    if card is None or "floor" not in card:
        return counted
    floor, documents = card["floor"]["nats_per_token"], card["score"]["documents"]
    return replace(counted[0], floor=floor, floor_documents=documents), counted[1]


@kit.cached(64)
def _counted(folder: str, stamps: tuple[int, ...]) -> tuple[References, str] | None:
    try:
        plan = reading.plan_in(reading.read_description(Path(folder)))
        if plan is None:
            return None
        return references_again(plan.to_dict(), reading.read_tokenizer(Path(folder)))
    except (ValueError, OSError):  # a corpus that is not here any more: no lines, then
        return None
