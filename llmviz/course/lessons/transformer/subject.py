"""The layer that a chapter looks into: of three words small enough to read, or of a model.

T tokens, C width.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmviz.course.lessons.transformer import words as words
from llmviz.course.ui import engine, kit
from llmviz.interpretability.block import Steps, all_blocks
from llmviz.models import three_words
from llmviz.models.gpt import GPT

DRAWN = 18  # tokens that have a row
SMALL = "three words"


@dataclass(frozen=True)
class Subject:
    """A text of T tokens and the layer that is looked into.

    `version` tells one state of the model's weights from another.
    """

    name: str
    version: str
    model: GPT
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    layer: int

    @property
    def in_model(self) -> tuple[str, str, int]:
        """What tells the layer from all others."""
        return self.name, self.version, self.layer

    @property
    def text(self) -> tuple[str, str, tuple[int, ...]]:
        """What tells the text in this model from all others."""
        return self.name, self.version, self.ids

    @property
    def kept_as(self) -> tuple[str, str, tuple[int, ...], int]:
        """What tells both from all others; see `kept`."""
        return *self.text, self.layer

    @property
    def steps(self) -> Steps:
        """What the layer computes: see `all_blocks`."""
        return blocks_of(self)[self.layer]

    def opening(self, imports: str) -> str:
        """The lines with which a snippet gets the model, behind its other imports."""
        lines = words.open_small if self.name == SMALL else words.open_model
        return lines.format(imports=imports, name=self.name) + "\n"


small_model = kit.cached(1)(three_words.three_words)


@kit.cached(32, key=lambda subject: subject.text)
def blocks_of(subject: Subject) -> list[Steps]:
    """Return what every layer of a model computes on a text."""
    return all_blocks(subject.model, subject.ids)


def choose_subject(
    state: kit.PageState, opened: tuple[engine.Bundled, kit.Read] | None
) -> Subject | None:
    """Show what can be looked into and return it; None, saying why, where it cannot be opened.

    opened: the learner's model and the text that it read, if it can be opened.
    """
    kit.choose(state, "of", words.subject_of, words.subject_subjects)
    if state["of"] == "model":
        if opened is None:
            kit.inform(words.subject_cannot, ":material/info:")
            return None
        bundled, read = opened
        layer = min(state["layer"], bundled.model.config.n_layer - 1)
        return Subject(*bundled.kept_as, bundled.model, read.ids, read.tokens, layer)
    kit.prose(words.subject_small)
    ids = tuple(range(len(three_words.TOKENS)))
    return Subject(SMALL, "", small_model(), ids, three_words.TOKENS, 0)
