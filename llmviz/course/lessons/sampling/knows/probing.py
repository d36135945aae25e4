"""The rules of tiny-world, asked of a model: one at once for a page, all of them behind it."""

import threading

import numpy as np

from llmviz.corpus.probes import PROBES
from llmviz.course.lessons.sampling.knows import model as probe_chances
from llmviz.course.ui import engine, kit

of_kind = kit.kept(16 * len(PROBES))(kit.on_model_and_tokenizer(probe_chances.of_kind))


class Probing:
    """All rules asked of one model, in a thread of its own; a page looks how far it is."""

    def __init__(self, bundled: engine.Bundled) -> None:
        self.curves: dict[str, np.ndarray] = {}  # rule -> (EXAMPLES, S), those known so far
        self.problem = ""
        self._ended = threading.Event()
        threading.Thread(target=self._ask, args=(bundled,), name="probes", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until all are known or one has failed; return whether that is so."""
        return self._ended.wait(seconds)

    def _ask(self, bundled: engine.Bundled) -> None:
        try:
            for kind in PROBES:
                self.curves[kind] = of_kind(bundled, kind)
        except ValueError as error:  # the model is gone
            self.problem = str(error)
        finally:
            self._ended.set()


all_kinds = kit.kept(16)(Probing)
