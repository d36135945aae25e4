"""The chapter "Grokking" of the lesson "Discoveries you can repeat"."""

from llmviz.course.document import beside
from llmviz.course.lessons.discoveries.grokking.grokking_record import DECAYS, MAIN, MODULI, SHARES
from llmviz.course.ui import codec

words = beside(__file__)

WAVES = 4  # of the strongest frequencies, that are looked at
OWN_MODULI = ("17", "19", "23", "29", "31")
OWN_SHARES = ("0.3", "0.4", "0.5", "0.6", "0.7")
OWN_DECAYS = ("0", "0.3", "1", "2")


def _named(values: tuple[float, ...]) -> list[str]:
    return [f"{value:g}" for value in values]


PARAMS = [
    codec.integer("grokwave", 0, 0, WAVES - 1),
    codec.integer("grokframe", -1, -1, 999),
    codec.integer("groka", 17, 0, MAIN.modulus - 1),
    codec.integer("grokb", 50, 0, MAIN.modulus - 1),
    codec.text("grokcell", ""),
    codec.choice("gridmodulus", f"{MODULI[-1]}", _named(MODULI)),
    codec.choice("gridshare", f"{SHARES[-1]:g}", _named(SHARES)),
    codec.choice("griddecay", f"{DECAYS[0]:g}", _named(DECAYS)),
    codec.choice("ownmodulus", "23", OWN_MODULI),
    codec.choice("ownshare", "0.6", OWN_SHARES),
    codec.choice("owndecay", "1", OWN_DECAYS),
    codec.integer("owngrokseed", 0, 0, 999),
    codec.flag("owngrok", False),
]
