"""The settings of the encoder–decoders: what each means, its range, which go together. No torch."""

from dataclasses import dataclass

from llmviz.config import Config, setting, settings_of
from llmviz.models.settings import ACTIVATIONS

TRANSLATOR_NORMS = ("post", "pre")


@dataclass(frozen=True)
class TranslatorConfig(Config):
    """Settings that all encoder–decoders have."""

    vocab_size: int = 256  # V, of the target
    source_vocab_size: int | None = None  # None: as vocab_size
    context_length: int = 64  # most tokens of a source, and of a target
    pad_id: int = 0  # fills short rows; nothing reads it in the source
    start_id: int = 1  # the decoder's first input
    end_id: int = 2  # the last token of a target

    def __post_init__(self) -> None:
        self.require_positive("vocab_size", "context_length")
        for name in ("source_vocab_size", "hidden_size"):
            if getattr(self, name) is not None:
                self.require_positive(name)
        for name in ("pad_id", "start_id", "end_id"):
            value = getattr(self, name)
            if not isinstance(value, int) or not 0 <= value < self.vocab_size:
                raise ValueError(f"{name} must be from 0 to {self.vocab_size - 1}; got {value!r}")


@dataclass(frozen=True)
class Seq2SeqConfig(TranslatorConfig):
    """Settings of the encoder–decoder with attention."""

    n_layer: int = setting(2, "blocks of the encoder, and of the decoder", "layers", 1, 24)
    n_head: int = setting(4, "attention heads in a block; must divide n_embd", "heads", 1, 32)
    n_embd: int = setting(128, "C, width of the residual stream; even", "numbers a token", 2, 1024)
    hidden_size: int | None = setting(
        None, "width inside the feed-forward; none: 4·C", "numbers", 1, 8192
    )
    dropout: float = setting(0.0, "chance to drop a number", "", 0, 0.9)
    norm: str = setting(
        "post", "where layer norms stand; post as published", choices=TRANSLATOR_NORMS
    )
    activation: str = setting("relu", "of the feed-forward", choices=ACTIVATIONS)
    attention_bias: bool = False

    def __post_init__(self) -> None:
        self.require_positive("n_layer", "n_head", "n_embd")
        super().__post_init__()
        self.require_divides("n_head", "n_embd")
        self.require_fraction("dropout")
        self.require_bool("attention_bias")
        self.require_one_of("norm", TRANSLATOR_NORMS)
        self.require_one_of("activation", ACTIVATIONS)
        if self.n_embd % 2:
            raise ValueError(f"sinusoidal positions need an even n_embd; got {self.n_embd}")


@dataclass(frozen=True)
class RecurrentTranslatorConfig(TranslatorConfig):
    """Settings of the encoder–decoder that hands on one vector."""

    n_embd: int = setting(64, "C, width of the token embedding", "numbers a token", 1, 1024)
    hidden_size: int | None = setting(None, "H, the state; none: as n_embd", "numbers", 1, 4096)
    cell: str = setting("gru", "the recurrent cell", choices=("rnn", "gru"))

    def __post_init__(self) -> None:
        self.require_positive("n_embd")
        super().__post_init__()
        self.require_one_of("cell", settings_of(type(self))["cell"].choices)

    @property
    def state_size(self) -> int:
        """H, the length of the one vector."""
        return self.hidden_size or self.n_embd
