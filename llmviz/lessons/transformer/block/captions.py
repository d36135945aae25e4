"""What a stage of a layer is called, and what is said below its diagram."""

from __future__ import annotations

import math

from llmviz.lessons.transformer.block import words
from llmviz.models.settings import GPTConfig
from llmviz.study.block import parameters_of
from llmviz.ui.matrix_picture import Scale

LEARNED_IN = {
    "norm1": "norm1",
    "qkv": "qkv",
    "join": "projection",
    "norm2": "norm2",
    "up": "up",
    "down": "down",
}


class Captions:
    """The sentences about one layer and one head on a text of T tokens.

    factor: what scores are multiplied by. unmixed: whether W_O changes nothing.
    """

    def __init__(
        self, config: GPTConfig, tokens: int, layer: int, head: int, factor: float, unmixed: bool
    ) -> None:
        self.config, self.layer, self.unmixed = config, layer, unmixed
        self.gated = config.activation == "swiglu"
        self.numbers = {
            "t": tokens,
            "c": config.n_embd,
            "f": config.feed_forward_size,
            "h": config.n_head,
            "d": config.head_size,
            "g": config.kv_heads,
            "head": head,
        }
        size = {"head": config.head_size, "model": config.n_embd}.get(config.attention_scale)
        self.scale: Scale = (factor, f"÷ √{size}" if size else "× 1")
        self.learned = parameters_of(config)

    def names(self, stage: str) -> tuple[str, str, str]:
        """Return a stage's title, its box and its short box."""
        full = words.ACTIVATIONS[self.config.activation]
        box = words.BOXES.get(self.config.activation, full)
        kind = words.KINDS[self.config.norm_kind].capitalize().replace("Rmsnorm", "RMSNorm")
        title, *boxes = words.STAGES[stage]
        title = title.format(layer=self.layer, kind=kind, activation=full)
        return title[0].upper() + title[1:] if stage != "x" else title, *(
            one.format(activation=box) for one in boxes
        )

    def caption(self, stage: str, norm: str) -> str:
        """Return what happens in a stage, its shapes, and what is learned there, a line each."""
        lines = (self._happens(stage, norm), self._shapes(stage), self._learned(stage))
        return "\n".join(filter(None, lines))

    def _happens(self, stage: str, norm: str) -> str:
        config, numbers = self.config, self.numbers
        if stage == "x":
            if self.layer:
                return words.X_LATER.format(before=self.layer - 1)
            added = config.positions in ("learned", "sinusoidal")
            return words.X_FIRST.format(position=words.X_POSITION if added else "")
        if stage.startswith("norm"):
            if config.norm_kind == "rms":
                return words.NORM_RMS
            return words.NORM if config.bias else words.NORM_PLAIN
        if stage == "qkv":
            shared = words.QKV_SHARED if config.kv_heads < config.n_head else ""
            return words.QKV + shared + (words.TURNED if config.positions == "rotary" else "")
        if stage == "scores":
            return words.SCORES.format(scale=self.scale[1]) + self._hidden()
        if stage == "join" and config.n_head == 1:
            return words.JOIN_ONE if self.unmixed else words.JOIN_SINGLE
        if stage == "sum2":
            return words.SUM2.format(after=words.THEN_NORM if norm == "post" else words.OUT)
        name = words.ACTIVATIONS[config.activation]
        template = {
            "weights": words.SOFTMAX,
            "join": words.JOIN,
            "sum1": words.SUM1,
            "up": words.UP_GATED if self.gated else words.UP,
            "act": words.ACT_GATED if self.gated else words.ACT,
            "down": words.DOWN,
        }[stage]
        return template.format(heads=config.n_head, activation=name, **numbers)

    def _hidden(self) -> str:
        """What the mask takes away, as far as the text is long enough to show it."""
        config, tokens = self.config, self.numbers["t"]
        if config.mask != "causal" or config.softmax_before_mask is not None or tokens < 2:
            return ""
        far = config.window is not None and tokens > config.window
        return words.SCORES_MASKED + words.SCORES_WINDOW.format(window=config.window) * far

    def _shapes(self, stage: str) -> str:
        shared = self.config.kv_heads < self.config.n_head
        more = {
            "x": "",
            "qkv": words.SHAPES_QKV + words.SHAPES_SHARED * shared,
            "up": words.SHAPES_UP,
        }.get(stage, words.SAME_SHAPE)
        line = {
            "scores": words.SHAPES_SCORES,
            "weights": words.SHAPES_WEIGHTS,
            "join": words.SHAPES_JOIN,
            "act": words.SHAPES_ACT,
            "down": words.SHAPES_DOWN,
        }.get(stage)
        line = line or words.SHAPES.replace("{more}", more)
        return line.format(**self.numbers)

    def _learned(self, stage: str) -> str:
        tensors = self.learned.get(LEARNED_IN.get(stage, ""), {})
        if not tensors:
            return words.NOT_LEARNED
        names = words.TENSORS | (words.GATED_TENSORS if self.gated else {})
        listed = [
            f"{names[name]} {' × '.join(f'{size:,}' for size in reversed(shape))}"
            for name, shape in tensors.items()
        ]
        count = sum(math.prod(shape) for shape in tensors.values())
        return words.LEARNED.format(count=count, tensors=", ".join(listed))
