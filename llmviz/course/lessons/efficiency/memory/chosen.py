"""What the controls of the chapter's step stand for."""

from dataclasses import dataclass

from llmviz.course.ui import engine
from llmviz.models.settings import GPTConfig

KEY = "efficiency.memory"
FLOAT = 4  # bytes of a number


@dataclass(frozen=True)
class Chosen:
    """What the controls stand for."""

    bundled: engine.Bundled
    config: GPTConfig
    rows: int  # texts of the batch
    tokens: int  # of each text
    pieces: int  # micro-batches
    recompute: int  # blocks of a group whose input is kept; 0 keeps everything

    @property
    def known(self) -> tuple[engine.Bundled, int, int, int, int]:
        """What a step depends on."""
        return self.bundled, self.rows, self.tokens, self.pieces, self.recompute
