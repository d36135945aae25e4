"""Results that do not depend on the visitor: computed once for their arguments, for all visitors.

Streamlit's `cache_data` hands every caller a copy, which it makes out of a pickle: for the weights
of all heads that takes longer than the rest of a rerun. Here everybody gets the same object, whose
arrays cannot be written into.

All results of the process together have a budget in bytes: of more, the longest unused go.
"""

from __future__ import annotations

import functools
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import fields, is_dataclass
from threading import Lock
from typing import Any, Generic, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

import numpy as np

from llmviz.course.document import ENGLISH, language
from llmviz.processes.limits import limit

MEGABYTE = 2**20
_LOCK = Lock()  # of all results: what is done under it takes microseconds
# The bytes of each result by its function and key, the longest unused first.
_sizes: OrderedDict[tuple[Cached, Hashable], int] = OrderedDict()

# Models that are loaded once for all: what is kept of one only points at it.
_shared: WeakSet[Any] = WeakSet()

P = ParamSpec("P")
R = TypeVar("R")


class Caches(Protocol):
    """What makes a function one whose results are cached."""

    def __call__(self, compute: Callable[P, R], /) -> Cached[P, R]: ...


def cached(
    most: int, key: Callable[..., Hashable] | None = None, *, counted: bool = True
) -> Caches:
    """Cache a function's last `most` results; the arguments are the whole key, so they say it all.

    An argument with `kept_as` is known by that, such as a loaded model by its name and version: a
    key keeps no model alive.

    key: returns what is kept as the key instead, for an argument that is too large to be kept or
    cannot be hashed; calls with the same key must have the same result.

    counted: whether it has a part of the budget. A loaded model has none: one that alone fills the
    budget would go, and be read anew, whenever anything else is computed.

    Of several threads that ask for the same thing at once one computes it and the others wait. What
    fails is not cached, and each thread that waited tries by itself.

    >>> cached(2)(abs)(-3)
    3
    """
    if most < 1:
        raise ValueError(f"at least one result must be kept; got {most}")

    def keep(compute: Callable[P, R], /) -> Cached[P, R]:
        return Cached(compute, most, key, counted=counted)

    return keep


def on_model(compute: Callable[..., R]) -> Callable[..., R]:
    """Return a function of a loaded model, as `engine.load` returns it, from one of the model."""

    @functools.wraps(compute)
    def on_bundled(bundled: Any, *rest: Any) -> R:
        return compute(bundled.model, *rest)

    return on_bundled


def on_model_and_tokenizer(compute: Callable[..., R]) -> Callable[..., R]:
    """Return a function of a loaded model from one of the model and its tokenizer."""

    @functools.wraps(compute)
    def on_bundled(bundled: Any, *rest: Any) -> R:
        return compute(bundled.model, bundled.tokenizer, *rest)

    return on_bundled


class Cached(Generic[P, R]):
    """A function whose results are cached. Its arguments are given by position."""

    def __init__(
        self,
        compute: Callable[P, R],
        most: int,
        key: Callable[..., Hashable] | None = None,
        *,
        counted: bool = True,
    ) -> None:
        self.most = most
        self._counted = counted
        self._key = key
        self._compute: Callable[..., R] = compute
        self._results: OrderedDict[Hashable, Future[R]] = OrderedDict()
        functools.update_wrapper(self, compute)

    def __call__(self, *arguments: Any) -> R:
        key = self._key_of(arguments)
        while True:
            with _LOCK:
                known = self._results.get(key)
                if known is None:
                    own = self._results[key] = Future()
                    while len(self._results) > self.most:
                        _sizes.pop((self, self._results.popitem(last=False)[0]), None)
                else:
                    self._results.move_to_end(key)
                    if (self, key) in _sizes:
                        _sizes.move_to_end((self, key))
            if known is None:
                return self._fill(key, arguments, own)
            if known.exception() is None:  # waits for the thread that computes it
                return known.result()

    def _fill(self, key: Hashable, arguments: tuple[Any, ...], own: Future[R]) -> R:
        try:
            result = self._compute(*arguments)
        except BaseException as error:  # also Streamlit's own, with which it ends a rerun
            with _LOCK:
                if self._results.get(key) is own:
                    del self._results[key]
            own.set_exception(error)
            raise
        protect(result)
        if self._counted:
            size = size_of(result) + _size_of_key(key)
            most = limit("LLMVIZ_KEPT_MB") * MEGABYTE
            with _LOCK:
                if self._results.get(key) is own:
                    _sizes[self, key] = size
                    self._evict(sum(_sizes.values()) - most)
        own.set_result(result)
        return result

    def _evict(self, over: int) -> None:
        """Drop the least recently used results of all functions, but for the newest."""
        while over > 0 and len(_sizes) > 1:
            (owner, key), size = _sizes.popitem(last=False)
            owner._results.pop(key, None)
            over -= size

    def _key_of(self, arguments: tuple[Any, ...]) -> Hashable:
        if self._key is None:
            key: Hashable = tuple(getattr(value, "kept_as", value) for value in arguments)
        else:
            key = self._key(*arguments)
        return key if language() == ENGLISH else (language(), key)  # what is drawn has words

    def forget(self, *arguments: Any) -> None:
        """Forget the result of these arguments, so that it is computed again."""
        with _LOCK:
            key = self._key_of(arguments)
            self._results.pop(key, None)
            _sizes.pop((self, key), None)

    def clear(self) -> None:
        """Forget all results."""
        with _LOCK:
            for key in self._results:
                _sizes.pop((self, key), None)
            self._results.clear()


def share(model: Any) -> Any:
    """Mark a model as one that is loaded for all, and return it; see `size_of`."""
    _shared.add(model)
    return model


def size_of(result: Any) -> int:
    """Return about how many bytes a result has, with what it holds; nothing is counted twice.
    A model that all share is not counted.

    Of a list of numbers, or of records that are alike, the first stands for all.

    >>> size_of((np.zeros(1000), "a" * 1000)) // 1000
    9
    """
    total, left = 0, [result]
    seen: dict[int, Any] = {}  # what is held has its number to itself
    texts: set[str | bytes] = set()  # a corpus holds the same few words many times
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if hasattr(value, "nbytes"):  # an array, a tensor
            total += int(value.nbytes)
            continue
        if hasattr(value, "to_plotly_json"):
            value = value.to_dict()  # written out by `protect`
        total += sys.getsizeof(value)
        if isinstance(value, dict):
            left.append(list(value))
            value = list(value.values())
        if isinstance(value, list | tuple | set | frozenset):
            first = next(iter(value), None)
            if isinstance(first, int | float) or _is_record(first):
                total += len(value) * _size_alone(first)
            elif isinstance(first, str | bytes) and len(set(map(type, value))) == 1:
                texts.update(value)
            else:
                left += value
        elif callable(getattr(value, "parameters", None)):  # a model
            left += () if value in _shared else value.parameters()
        elif type(value).__module__.startswith("llmviz"):
            if _is_record(value):
                left += [getattr(value, field.name) for field in fields(value)]
            else:
                left += vars(value).values() if hasattr(value, "__dict__") else ()
    return total + sum(map(sys.getsizeof, texts))


def _is_record(value: Any) -> bool:
    """Whether it is a small record such as a token: a dataclass that has its fields as slots."""
    return is_dataclass(value) and not hasattr(value, "__dict__")


def _size_alone(value: Any) -> int:
    """The bytes of a number, or of a record with what its fields hold."""
    own = fields(value) if _is_record(value) else ()
    return sys.getsizeof(value) + sum(sys.getsizeof(getattr(value, field.name)) for field in own)


def _size_of_key(key: Hashable) -> int:
    """The bytes of what visitors wrote: a text, ids. What is the project's own is kept anyway."""
    if isinstance(key, tuple):
        return sys.getsizeof(key) + sum(map(_size_of_key, key))
    return sys.getsizeof(key) if isinstance(key, str | bytes | int) else 0


def protect(result: Any) -> None:
    """Let nobody write into the arrays of a result: in tuples, lists, mappings and dataclasses.

    A Plotly figure writes itself out here, once: it would do so in every rerun that shows it.
    """
    if isinstance(result, np.ndarray):
        result.flags.writeable = False
    elif hasattr(result, "to_plotly_json"):
        written = result.to_dict()
        result.to_dict = lambda: written
    elif isinstance(result, dict):
        for part in result.values():
            protect(part)
    elif isinstance(result, list | tuple):
        for part in result:
            if not isinstance(part, int | float | str):
                protect(part)
    elif is_dataclass(result) and not isinstance(result, type):
        for field in fields(result):
            protect(getattr(result, field.name))
