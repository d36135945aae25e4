"""The controls of the chapter "Curves", as its links write them."""

from llmviz.training.curves import AXES, UNITS
from llmviz.ui import codec

MOST = 20  # runs on one chart


def _names(key: str) -> codec.Param:
    """Several runs by name, in the order chosen; which exist is seen when they are read."""

    def read(written: str) -> list[str]:
        names = [part for part in written.split(",") if part]
        if len(names) > MOST or len(set(names)) != len(names):
            raise ValueError(f"at most {MOST} different runs are needed")
        return names

    return codec.Param(key, [], read, ",".join, at_most=MOST)


PARAMS = [
    _names("runs"),
    _names("hide"),  # of them, those that are not drawn just now
    codec.choice("axis", "steps", AXES),
    codec.choice("unit", "nats", UNITS),
    codec.number("mean", 0.8, 0.0, 0.999),
    codec.flag("logx", False),
    codec.flag("logy", False),
    codec.integer("at", -1, -1, 1_000_000_000),  # −1: the newest
]
