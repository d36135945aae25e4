"""Lists and dicts of modules of one class, said so to a type checker; torch's say `Module`."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from torch import nn

if TYPE_CHECKING:
    One = TypeVar("One", bound=nn.Module)

    class ListOf(nn.ModuleList, Generic[One]):
        def __init__(self, modules: Iterable[One]) -> None: ...
        def __iter__(self) -> Iterator[One]: ...
        def __getitem__(self, index: int) -> One: ...  # type: ignore[override]  # no slices

    class DictOf(nn.ModuleDict, Generic[One]):
        def __getitem__(self, key: str) -> One: ...

else:
    ListOf, DictOf = nn.ModuleList, nn.ModuleDict
