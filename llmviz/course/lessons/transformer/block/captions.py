"""What a stage of a layer is called, and what is said below its diagram."""

import math

from llmviz.course.lessons.transformer.block import words
from llmviz.course.ui.matrix_picture import Scale
from llmviz.interpretability.block import parameters_of
from llmviz.models.settings import GPTConfig

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
        self, config: GPTConfig, tokens: int, layer: int, head: int, factor: float, *, unmixed: bool
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
        full = words.activations[self.config.activation]
        box = words.boxes.get(self.config.activation, full)
        kind = words.kinds[self.config.norm_kind].capitalize().replace("Rmsnorm", "RMSNorm")
        title, *boxes = words.stages[stage]
        title = title.format(layer=self.layer, kind=kind, activation=full)
        return title[0].upper() + title[1:] if stage != "x" else title, *(
            text.format(activation=box) for text in boxes
        )

    def caption(self, stage: str, norm: str) -> str:
        """Return what happens in a stage, its shapes, and what is learned there, a line each."""
        lines = (self._happens(stage, norm), self._shapes(stage), self._learned(stage))
        return "\n".join(filter(None, lines))

    def _happens(self, stage: str, norm: str) -> str:
        config, numbers = self.config, self.numbers
        if stage == "x":
            if self.layer:
                return words.x_later.format(before=self.layer - 1)
            added = config.positions in ("learned", "sinusoidal")
            return words.x_first.format(position=words.x_position if added else "")
        if stage.startswith("norm"):
            if config.norm_kind == "rms":
                return words.norm_rms
            return words.norm if config.bias else words.norm_plain
        if stage == "qkv":
            shared = words.qkv_shared if config.kv_heads < config.n_head else ""
            return words.qkv + shared + (words.turned if config.positions == "rotary" else "")
        if stage == "scores":
            return words.scores.format(scale=self.scale[1]) + self._hidden()
        if stage == "join" and config.n_head == 1:
            return words.join_one if self.unmixed else words.join_single
        if stage == "sum2":
            return words.sum2.format(after=words.then_norm if norm == "post" else words.out)
        name = words.activations[config.activation]
        template = {
            "weights": words.softmax,
            "join": words.join,
            "sum1": words.sum1,
            "up": words.up_gated if self.gated else words.up,
            "act": words.act_gated if self.gated else words.act,
            "down": words.down,
        }[stage]
        return template.format(heads=config.n_head, activation=name, **numbers)

    def _hidden(self) -> str:
        """What the mask takes away, as far as the text is long enough to show it."""
        config, tokens = self.config, self.numbers["t"]
        if config.mask != "causal" or config.softmax_before_mask is not None or tokens < 2:
            return ""
        far = config.window is not None and tokens > config.window
        return words.scores_masked + words.scores_window.format(window=config.window) * far

    def _shapes(self, stage: str) -> str:
        shared = self.config.kv_heads < self.config.n_head
        more = {
            "x": "",
            "qkv": words.shapes_qkv + words.shapes_shared * shared,
            "up": words.shapes_up,
        }.get(stage, words.same_shape)
        line = {
            "scores": words.shapes_scores,
            "weights": words.shapes_weights,
            "join": words.shapes_join,
            "act": words.shapes_act,
            "down": words.shapes_down,
        }.get(stage)
        line = line or words.shapes.replace("{more}", more)
        return line.format(**self.numbers)

    def _learned(self, stage: str) -> str:
        tensors = self.learned.get(LEARNED_IN.get(stage, ""), {})
        if not tensors:
            return words.not_learned
        names = words.tensors | (words.gated_tensors if self.gated else {})
        listed = [
            f"{names[name]} {' × '.join(f'{size:,}' for size in reversed(shape))}"
            for name, shape in tensors.items()
        ]
        count = sum(math.prod(shape) for shape in tensors.values())
        return words.learned.format(count=count, tensors=", ".join(listed))
