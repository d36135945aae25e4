"""What is looked up once in a rerun, however many parts of a page ask for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from llmviz.course.streamlit_parts import memory_of_rerun

P = ParamSpec("P")
R = TypeVar("R")


def once(look_up: Callable[P, R]) -> Callable[P, R]:
    """Let a function of hashable arguments be called once in a rerun; the rest of it gets the same.

    For what lies in files, which may change from one rerun to the next: a page that lists the
    models, loads one of them and names its version would look into the same folders each time. What
    fails is tried again. Outside a rerun, as in a thread, each call looks anew.
    """

    @functools.wraps(look_up)
    def looked_up(*given: P.args, **more: P.kwargs) -> R:
        known = memory_of_rerun()
        if known is None:
            return look_up(*given, **more)
        key = (look_up, given, tuple(more.items()))
        if key not in known:
            known[key] = look_up(*given, **more)
        return known[key]

    return looked_up
