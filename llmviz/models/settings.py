"""The settings of the models: what each means, its range, and which go together. No torch.

Those of the encoder–decoders are in `translator_settings`.

A form shows the settings of a model in the order that they have here.
"""

import math
from dataclasses import dataclass

from llmviz.config import Config, setting

# The names of what a setting can choose; a test holds them against the code that they choose.
POSITIONS, NORMS = ("learned", "sinusoidal", "rotary", "none"), ("pre", "post", "none")
ADDED_POSITIONS = ("learned", "sinusoidal")  # a vector beside the token's; others act in attention
NORM_KINDS = ("layer", "rms")
ACTIVATIONS = ("gelu", "gelu_tanh", "relu", "silu", "swiglu")
HIDDEN_ACTIVATIONS = ("tanh", "relu")
SCALES = ("head", "model", "none")
MASKS = ("causal", "off_by_one", "none")
SOFTMAX_BEFORE_MASK = ("softmax_again", "leave", "renormalise")
RULES = ("add", "delta", "gated")  # linear attention, delta rule, gated state space
BOTH_SIDES = ("none",)  # masks of a BERT
EXTRA_IDS = 2  # ids that a BERT has besides those of its tokenizer: see `BERTConfig`


@dataclass(frozen=True)
class BigramConfig(Config):
    """Settings of a bigram. The context length only says how much text one batch row holds."""

    vocab_size: int = 27  # V
    context_length: int = 16  # tokens in a row of a batch; each prediction sees one of them

    def __post_init__(self) -> None:
        self.require_positive("vocab_size", "context_length")


@dataclass(frozen=True)
class MLPConfig(Config):
    """Settings of the window model."""

    vocab_size: int = 27  # V
    context_length: int = 16  # most tokens in one forward pass
    window: int = setting(
        8,
        "W, tokens that each prediction sees; filled with padding before a start",
        "tokens",
        1,
        64,
    )
    n_layer: int = setting(1, "hidden layers", "layers", 1, 8)
    n_embd: int = setting(24, "C, width of the token embedding", "numbers a token", 1, 1024)
    hidden_size: int = setting(200, "F, width of a hidden layer", "numbers", 1, 8192)
    batch_norm: bool = setting(True, "norms over the batch before each tanh")
    hidden_activation: str = "tanh"  # behind each hidden layer: tanh as published, or relu

    def __post_init__(self) -> None:
        self.require_positive(
            "vocab_size", "context_length", "window", "n_layer", "n_embd", "hidden_size"
        )
        self.require_bool("batch_norm")
        self.require_one_of("hidden_activation", HIDDEN_ACTIVATIONS)


@dataclass(frozen=True)
class WaveNetConfig(Config):
    """Settings of the tree. Each prediction sees 2^n_layer tokens."""

    vocab_size: int = 27  # V
    context_length: int = 16  # most tokens in one forward pass
    n_layer: int = setting(3, "levels; the window is 2 to this power", "levels", 1, 12)
    n_embd: int = setting(24, "C, width of the token embedding", "numbers a token", 1, 1024)
    hidden_size: int = setting(128, "F, width of a node", "numbers", 1, 8192)
    batch_norm: bool = setting(True, "norms over the batch before each tanh")

    def __post_init__(self) -> None:
        self.require_positive("vocab_size", "context_length", "n_layer", "n_embd", "hidden_size")
        self.require_bool("batch_norm")
        if self.n_layer > 12:
            raise ValueError(f"n_layer must be at most 12, a window of 4,096; got {self.n_layer}")

    @property
    def window(self) -> int:
        """W, tokens that each prediction sees."""
        return 2**self.n_layer


@dataclass(frozen=True)
class RNNConfig(Config):
    """Settings of a recurrent model."""

    vocab_size: int = 27  # V
    context_length: int = 32  # most tokens in one forward pass, which starts from an empty state
    n_layer: int = setting(1, "recurrent layers, one above the other", "layers", 1, 8)
    n_embd: int = setting(64, "C, width of the token embedding", "numbers a token", 1, 1024)
    hidden_size: int | None = setting(None, "H, the state; none: as n_embd", "numbers", 1, 4096)
    dropout: float = setting(0.0, "chance, between layers and before the head", "", 0, 0.9)

    def __post_init__(self) -> None:
        self.require_positive("vocab_size", "context_length", "n_layer", "n_embd")
        if self.hidden_size is not None:
            self.require_positive("hidden_size")
        self.require_fraction("dropout")


@dataclass(frozen=True)
class MatrixMemoryConfig(Config):
    """Settings of a model whose heads each keep one matrix, and no list of tokens."""

    vocab_size: int = 65  # V
    context_length: int = 64  # most tokens in one forward pass, which starts from empty matrices
    n_layer: int = setting(2, "blocks, one after the other", "layers", 1, 48)
    n_head: int = setting(4, "matrices of a block; must divide n_embd", "heads", 1, 32)
    n_embd: int = setting(64, "C, width of the residual stream", "numbers a token", 1, 2048)
    rule: str = setting("add", "what a token does to what was written before", choices=RULES)

    def __post_init__(self) -> None:
        self.require_positive("vocab_size", "context_length", "n_layer", "n_head", "n_embd")
        self.require_divides("n_head", "n_embd")
        self.require_one_of("rule", RULES)


@dataclass(frozen=True)
class GPTConfig(Config):
    """Settings of a GPT. The defaults are a small model that a laptop trains in minutes."""

    vocab_size: int = 65  # V, number of token ids
    context_length: int = 64  # most tokens in one forward pass
    n_layer: int = setting(4, "blocks, one after the other", "layers", 1, 48)
    n_head: int = setting(4, "attention heads in a block; must divide n_embd", "heads", 1, 32)
    n_embd: int = setting(128, "C, width of the residual stream", "numbers a token", 1, 2048)
    hidden_size: int | None = setting(
        None, "width inside the feed-forward; none: 4·C, for SwiGLU 8/3·C", "numbers", 1, 8192
    )
    dropout: float = setting(
        0.0, "chance to drop an embedding, an attention weight or an addition", "", 0, 0.9
    )
    embedding_dropout: float | None = None  # of embeddings alone; none: as dropout
    attention_dropout: float | None = None  # of attention weights alone; none: as dropout
    norm: str = setting("pre", "where layer norms stand", choices=NORMS)
    activation: str = setting("gelu", "of the feed-forward", choices=ACTIVATIONS)
    positions: str = setting("learned", "how the model knows a token's position", choices=POSITIONS)
    tied_head: bool = True  # the head's matrix is the token embedding
    qkv_bias: bool = True
    bias: bool = True  # of the other linear layers and of the norms
    norm_epsilon: float = 1e-5
    # Mistakes to train and look at; the first choice of each is right.
    attention_scale: str = "head"  # head (1/√D), model (1/√C), none
    mask: str = "causal"  # causal, off_by_one, none
    softmax_before_mask: str | None = None  # None, softmax_again, leave, renormalise
    residual: bool = True  # False: a block replaces its input instead of adding to it
    shift: bool = True  # False: the targets are the inputs themselves
    # What changed in models since 2017; the first choice of each is GPT-2's.
    norm_kind: str = setting(
        "layer", "layer: mean 0, variance 1; rms: mean square 1", choices=NORM_KINDS
    )
    n_kv_head: int | None = setting(
        None,
        "heads of keys and values; if they are fewer, several heads share them",
        "heads",
        1,
        32,
    )
    window: int | None = setting(
        None,
        "how many tokens a token sees, the last is itself; none: all so far",
        "tokens",
        1,
        4096,
    )
    n_expert: int = setting(1, "feed-forward networks, between which a router chooses", "", 1, 64)
    experts_per_token: int = setting(2, "experts that each token is sent to", "experts", 1, 8)
    balance: float = setting(
        0.01, "how strongly training balances the tokens among the experts", "", 0, 0.9
    )
    rotary_base: float = 10_000.0  # see `Rotary`
    rotary_scaling: tuple[float, ...] = ()  # see `llmviz.nn.positions.stretched`

    def __post_init__(self) -> None:
        self.require_positive("vocab_size", "context_length", "n_layer", "n_head", "n_embd")
        self.require_positive("n_expert", "experts_per_token")
        for name in ("hidden_size", "n_kv_head", "window"):
            if getattr(self, name) is not None:
                self.require_positive(name)
        self.require_divides("n_head", "n_embd")
        if self.n_kv_head is not None:
            self.require_divides("n_kv_head", "n_head")
        self.require_fraction("dropout", "norm_epsilon", "balance")
        for name in ("embedding_dropout", "attention_dropout"):
            if getattr(self, name) is not None:
                self.require_fraction(name)
        self.require_bool("tied_head", "qkv_bias", "bias", "residual", "shift")
        self.require_one_of("positions", POSITIONS)
        self.require_one_of("norm", NORMS)
        self.require_one_of("norm_kind", NORM_KINDS)
        self.require_one_of("activation", ACTIVATIONS)
        self.require_one_of("attention_scale", SCALES)
        self.require_one_of("mask", MASKS)
        self.require_one_of("softmax_before_mask", (None, *SOFTMAX_BEFORE_MASK))
        if self.positions == "sinusoidal" and self.n_embd % 2:
            raise ValueError(f"sinusoidal positions need an even n_embd; got {self.n_embd}")
        if self.positions == "rotary" and self.head_size % 2:
            raise ValueError(
                "rotary positions need an even head size; "
                f"got {self.head_size}, n_embd={self.n_embd} / n_head={self.n_head}"
            )
        if self.n_expert > 1 and self.experts_per_token > self.n_expert:
            raise ValueError(
                f"experts_per_token must not exceed n_expert; "
                f"got {self.experts_per_token} > {self.n_expert}"
            )
        if self.window is not None and self.mask != "causal":
            raise ValueError(f'a window needs mask="causal"; got mask="{self.mask}"')
        self.require_above_zero("rotary_base")
        self.require_numbers("rotary_scaling")
        object.__setattr__(self, "rotary_scaling", tuple(self.rotary_scaling))  # JSON has lists
        if len(self.rotary_scaling) not in (0, 1, 4):
            raise ValueError(
                f"rotary_scaling must have 0, 1 or 4 values; got {self.rotary_scaling}"
            )
        stretch = self.rotary_scaling
        crossed = len(stretch) == 4 and stretch[1] >= stretch[2]
        if crossed or not all(0 < value < math.inf for value in stretch):
            raise ValueError(
                "rotary_scaling must be factor, low_freq_factor, high_freq_factor and "
                "original_max_position_embeddings, or the factor alone; all above 0, and "
                f"high_freq_factor above low_freq_factor; got {', '.join(map(str, stretch))}"
            )

    @property
    def head_size(self) -> int:
        """D = C/H."""
        return self.n_embd // self.n_head

    @property
    def adds_positions(self) -> bool:
        """Whether a position is a vector that is added to the token's."""
        return self.positions in ADDED_POSITIONS

    @property
    def kv_heads(self) -> int:
        """G, how many heads of keys and values there are."""
        return self.n_kv_head or self.n_head

    @property
    def embedding_dropout_rate(self) -> float:
        """The chance to drop an embedding."""
        return self.dropout if self.embedding_dropout is None else self.embedding_dropout

    @property
    def attention_dropout_rate(self) -> float:
        """The chance to drop an attention weight."""
        return self.dropout if self.attention_dropout is None else self.attention_dropout

    @property
    def feed_forward_size(self) -> int:
        """The hidden width really used, of each expert if there are several.

        SwiGLU's keeps the parameter count of the others.
        """
        wide = 8 * self.n_embd // 3 if self.activation == "swiglu" else 4 * self.n_embd
        return self.hidden_size or wide


@dataclass(frozen=True)
class BERTConfig(GPTConfig):
    """Settings of a BERT: those of a GPT, but every token sees all tokens, before and after it.

    The last two of the V ids are no text: V − 2 stands where a token is hidden, V − 1 fills rows
    of short texts and is seen by nobody.
    """

    mask: str = setting("none", "which tokens a token sees: all of them", choices=BOTH_SIDES)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_one_of("mask", BOTH_SIDES)
        if not self.shift:
            raise ValueError("shift is about the next token, which a BERT does not predict")
        if self.vocab_size <= EXTRA_IDS:
            raise ValueError(
                f"vocab_size must be above {EXTRA_IDS}, two ids being no text; "
                f"got {self.vocab_size}"
            )

    @property
    def mask_id(self) -> int:
        """The id that stands where a token is hidden."""
        return self.vocab_size - 2

    @property
    def pad_id(self) -> int:
        """The id that fills rows of short texts."""
        return self.vocab_size - 1


@dataclass(frozen=True)
class SkipGramConfig(Config):
    """Settings of the vectors and of what they predict."""

    vocab_size: int = 1000  # V
    n_embd: int = setting(100, "C, length of a vector", "numbers a word", 1, 2048)
    window: int = setting(5, "so many words to each side are neighbours", "words", 1, 64)
    negatives: int = setting(5, "K, random words that each pair is compared with", "", 1, 64)

    def __post_init__(self) -> None:
        self.require_positive("vocab_size", "n_embd", "window", "negatives")
