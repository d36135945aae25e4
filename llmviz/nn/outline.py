"""Models without memory: each tensor has its shape and type, and no values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

# They change the values of their first argument alone, not its shape or type.
VALUES_ALONE = (nn.init.normal_, torch.Tensor.normal_, torch.Tensor.tril, torch.Tensor.triu)


class _WithoutValues(TorchFunctionMode):
    """Leaves out what would compute values alone."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        if func in VALUES_ALONE:
            return args[0] if args else named["tensor"]
        return func(*args, **named)


@contextmanager
def outlined() -> Iterator[None]:
    """Within it a new model takes no memory: its tensors are on torch's meta device.

    No random numbers are drawn for it. What has no values is asked for none, because torch computes
    the shapes of some functions in Python, and imports its compiler for that, which takes a second.
    """
    with torch.device("meta"), _WithoutValues():
        yield
