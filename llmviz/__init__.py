"""A language model, every step of it open: text, tokens, vectors, attention, training, sampling.

    import llmviz

    model = llmviz.load("tiny-world-gpt")
    print(model.generate("Tom has a", temperature=0.8))

What `__all__` lists is public and changes only with a note in CHANGELOG.md. All else may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from llmviz.files.lazy import lazy_names
from llmviz.version import __version__

if TYPE_CHECKING:
    from llmviz import show
    from llmviz.api.model import Model, load
    from llmviz.api.training import Run, train


__all__ = ["Model", "Run", "__version__", "load", "show", "train"]

_NEED_TORCH = {
    "Model": "api.model",
    "load": "api.model",
    "Run": "api.training",
    "train": "api.training",
}

_with_torch = lazy_names(__name__, _NEED_TORCH)


def __getattr__(name: str) -> Any:
    return import_module("llmviz.show") if name == "show" else _with_torch(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
