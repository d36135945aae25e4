"""The chapter "Features, judged by the truth" of the lesson "Discoveries you can repeat"."""

from llmviz.corpus.states import LABELS
from llmviz.course.document import beside
from llmviz.course.lessons.discoveries.features_record import KINDS, MAIN, ON_EACH, SIZE, SIZES
from llmviz.course.ui import codec

words = beside(__file__)

TEXT = (
    "Once there was an odd baker called Nora Copperdale. The best friend she had was Ravi "
    "Nettleton, a kind doctor. They met at the harbour. Nora found a small red lamp behind the "
    "chair. Then Nora gave the red lamp to Ravi. Nora smiled softly. Soon Ravi ate bread with "
    "honey. But who had the lamp now? It was Ravi."
)
MOST_OF_TEXT = 1000  # characters
BUNDLED = tuple(
    sorted((layer, features) for layer, features, on in KINDS if on == ON_EACH)
)  # the dictionaries that come along: (layer, features)
OWN_FEATURES = ("96", "192", "384")
OWN_ON = ("4", "8", "16", "32")

PARAMS = [
    codec.choice(
        "featof", f"{MAIN}.{SIZE}", [f"{layer}.{features}" for layer, features in BUNDLED]
    ),
    codec.choice("featlabel", "word furniture", list(LABELS)),
    codec.integer("feature", -1, -1, max(SIZES) - 1),  # -1: the best for the label
    codec.text("feattext", TEXT, MOST_OF_TEXT),
    codec.choice("featkind", "word", ["word", "rule", "state"]),
    codec.integer("featparent", -1, -1, min(SIZES) - 1),  # -1: the one that splits most
    codec.text("featmodel", ""),
    codec.integer("featlayer", -1, -1, 1_000),  # -1: one in the middle
    codec.choice("featcount", "192", OWN_FEATURES),
    codec.choice("featon", "8", OWN_ON),
    codec.integer("featseed", 0, 0, 999),
    codec.flag("featown", False),
    codec.integer("featopen", 0, 0, int(OWN_FEATURES[-1]) - 1),
]
