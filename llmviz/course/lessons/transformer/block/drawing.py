"""A layer that is drawn as linked matrices: each of its stages adds its own, and its caption.

T tokens, C width, D head size, F hidden width, H heads.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from llmviz.course import components as lv
from llmviz.course.lessons.transformer.block import words
from llmviz.course.ui import matrix_picture
from llmviz.course.ui.matrix_picture import (
    Picture,
    Scale,
    Way,
    linear,
    project,
    turn,
    turned,
    weights_to_output,
)
from llmviz.interpretability.block import STAGES, Steps, parameters_of
from llmviz.interpretability.heads_on_text import require_drawn_attention
from llmviz.models.gpt import GPT
from llmviz.models.settings import GPTConfig
from llmviz.nn.attention.steps import AttentionSteps
from llmviz.nn.layers import RMSNorm

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
            return words.x_first.format(position=words.x_position * config.adds_positions)
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
            return ""
        names = words.tensors | (words.gated_tensors if self.gated else {})
        listed = [
            f"{names[name]} {' × '.join(f'{size:,}' for size in reversed(shape))}"
            for name, shape in tensors.items()
        ]
        count = sum(math.prod(shape) for shape in tensors.values())
        return words.learned.format(count=count, tensors=", ".join(listed))


# The stages of a part, in its order.
PARTS = {
    "input": ("x",),
    "attn": ("qkv", "scores", "weights", "join"),
    "mlp": ("up", "act", "down"),
}
ROLES = {"x": "residual", "sum1": "residual", "sum2": "residual"}
ROLES |= dict.fromkeys(PARTS["attn"], "weights") | dict.fromkeys(PARTS["mlp"], "value")


def stage_names(norm: str) -> list[str]:
    """Return the stages of a layer whose norms stand there, in their order."""
    return [stage for part in STAGES[norm] for stage in PARTS.get(part, (part,))]


@dataclass
class Drawing:
    """A layer that is being drawn: its stages add their matrices one after the other.

    Raises ValueError as `require_drawn_attention` does.
    """

    model: GPT
    steps: Steps
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    layer: int
    head: int

    def __post_init__(self) -> None:
        self.picture, self.block = Picture(), self.model.blocks[self.layer]
        self.config = self.model.config
        self.rows: dict[str, Any] = {"row_labels": self.tokens}
        self.norm = self.config.norm
        self.stream = "x"  # the matrix that the next part reads, and the next + adds to
        self.read = "x"
        width, hidden = self.config.n_embd, self.config.feed_forward_size
        sizes = {"C": width, "D": self.config.head_size, "N": width, "F": hidden}
        self.windows = {axis: self.picture.window(axis, size) for axis, size in sizes.items()}
        attn, read = self.block.attn, self.steps["norm1" if self.norm == "pre" else "input"]
        require_drawn_attention(self.model, self.layer, read, self.steps["attn.weights"])
        unmixed = torch.equal(attn.projection.weight, torch.eye(width))
        about = (len(self.tokens), self.layer, self.head, attn.scale)
        self.say = Captions(self.config, *about, unmixed=unmixed)

    def stages(self) -> list[lv.Stage]:
        """Add all matrices; return the stages in which they stand."""
        draw: dict[str, Callable[[], list]] = {
            "x": self._input,
            "norm1": lambda: self._norm(1, self.block.norm1),
            "qkv": self._qkv,
            "scores": self._scores,
            "weights": lambda: [["weights", "×", "V", "=", "context"]],
            "join": self._join,
            "sum1": lambda: self._sum(1, "attention"),
            "norm2": lambda: self._norm(2, self.block.norm2),
            "up": self._up,
            "act": self._act,
            "down": self._down,
            "sum2": lambda: self._sum(2, "feed-forward"),
        }
        on_stream = {"x", "sum1", "sum2"} | ({"norm1", "norm2"} if self.norm == "post" else set())
        stages, branch = [], 0
        for name in stage_names(self.norm):
            layout = draw[name]()
            title, box, short = self.say.names(name)
            of = None if name in on_stream else branch
            branch += name == "sum1"
            role = ROLES.get(name, "neutral")
            caption = self.say.caption(name, self.norm)
            stages.append(lv.Stage(title, box, short, layout, caption, role, of))
        return stages

    def add(self, name: str, values: Tensor, formula: str = "", **more) -> None:
        """Add a matrix with a row for each token, seen through the window of C if it is wide."""
        self.picture.add(
            name, values, name, formula, windows=("", self.windows["C"]), **self.rows, **more
        )

    def _input(self) -> list:
        self.add("x", self.steps["input"], role="residual")
        return [["x"]]

    def _norm(self, number: int, norm: Any) -> list:
        x, gain, shift = self.steps[self._normed(number)], norm.weight, None
        source, name = self.stream, f"norm {number}"
        column: dict[str, Any] = {"role": "neutral", **self.rows}
        wide: dict[str, Any] = {"windows": ("", self.windows["C"])}
        scale = f"scale {number}"
        epsilon: float = norm.eps
        if isinstance(norm, RMSNorm):
            square, root = x.square().mean(-1, keepdim=True), f"root {number}"
            names = [f"mean square {number}", root]
            op = lv.row_mean_square(source)
            self.picture.add(names[0], square, "mean square", op=op, **column)
            op = lv.root(names[0], epsilon)
            self.picture.add(root, (square + epsilon).sqrt(), "root", op=op, **column)
            op = lv.rms_normalised(source, root, scale)
        else:
            mean = x.mean(-1, keepdim=True)
            variance = x.var(-1, unbiased=False, keepdim=True)
            names = [f"{part} {number}" for part in ("mean", "variance", "deviation")]
            self.picture.add(names[0], mean, "mean", op=lv.row_mean(source), **column)
            op = lv.row_mean_square(source, names[0])
            self.picture.add(names[1], variance, "variance", op=op, **column)
            op = lv.root(names[1], epsilon)
            deviation = (variance + epsilon).sqrt()
            self.picture.add(names[2], deviation, "deviation", op=op, **column)
            shift = None if norm.bias is None else f"shift {number}"
            op = lv.normalised(source, names[0], names[2], scale, shift)
        self.picture.add(scale, gain.detach()[None], scale, **wide)
        if shift is not None:
            self.picture.add(shift, norm.bias.detach()[None], shift, **wide)
        self.add(name, self.steps[f"norm{number}"], op=op)
        self.read = name
        if self.norm == "post":
            self.stream = name
        return [[source, *names], [scale, shift, name]]

    def _normed(self, number: int) -> str:
        if self.norm == "post":
            return f"sum{number}"
        return "input" if number == 1 else "sum1"

    def _qkv(self) -> list:
        attn, layout = self.block.attn, []
        c, d = self.windows["C"], self.windows["D"]
        heads = {"q": self.head, "k": self._group(), "v": self._group()}
        x = self._what_is_read()
        biases = self._biases()
        for letter, weight in zip("QKV", attn.projections(self.head), strict=True):
            small = letter.lower()
            values = self.steps[f"attn.{small}"][heads[small]]
            bias = biases[letter]
            if attn.rotary is not None and letter != "V":  # the trace has them as they turned
                values = x @ weight + (0 if bias is None else bias)
            names = project(
                self.picture, letter, values, self.read, self.tokens, (weight, bias), (c, d), ""
            )
            first = [self.read, "×"] if letter == "Q" else [None, None]
            layout.append([*first, *_with_signs(names)])
        if attn.rotary is not None:
            layout.append(self._turned(heads))
        return layout

    def _what_is_read(self) -> Tensor:
        """The values (T, C) of the matrix that the part reads."""
        return self.steps["input" if self.read == "x" else self.read.replace(" ", "")]

    def _turned(self, heads: dict[str, int]) -> list:
        """Add queries and keys turned by their positions; return the row in which they stand."""
        rotary, t = self.block.attn.rotary, len(self.tokens)
        half = self.config.head_size // 2
        assert rotary is not None  # only where positions turn
        angles = torch.atan2(rotary.sin, rotary.cos)[:, :half]  # of position 1 below π: the speed
        speeds = angles[1:2] if len(angles) > 1 else torch.ones(1, half)
        pairs = [
            (letter, role, self.steps[f"attn.{letter.lower()}"][heads[letter.lower()]])
            for letter, role in (("Q", "query"), ("K", "key"))
        ]
        positions = torch.arange(t)[:, None]
        d = self.windows["D"]
        turn(self.picture, self.tokens, positions * speeds, speeds, pairs, d)
        return ["angle", None, turned("Q"), None, turned("K")]

    def _group(self) -> int:
        attn = self.block.attn
        return self.head * attn.n_kv_head // attn.n_head

    def _biases(self) -> dict[str, Tensor | None]:
        attn, d = self.block.attn, self.config.head_size
        if attn.qkv.bias is None:
            return dict.fromkeys("QKV")
        parts = attn.qkv.bias.detach().split((self.config.n_embd, attn.kv_size, attn.kv_size))
        at = (self.head, self._group(), self._group())
        return {
            letter: part[None, k * d : (k + 1) * d]
            for letter, part, k in zip("QKV", parts, at, strict=True)
        }

    def _scores(self) -> list:
        rotary = self.block.attn.rotary is not None
        operands = (turned("Q"), turned("K")) if rotary else ("Q", "K")
        fields = ("scores", "scaled", "masked", "weights", "dropped", "output")
        steps = AttentionSteps(*(self.steps[f"attn.{name}"][self.head] for name in fields))
        hides = self.model.visible(torch.tensor([self.ids]))[0] is not None
        weights_to_output(
            self.picture,
            self.tokens,
            steps,
            "V",
            operands=operands,
            way=Way(
                self.say.scale,
                matrix_picture.MASK_REASON if hides else "",
                before=self.config.softmax_before_mask,
            ),
        )
        names = [matrix.name for matrix in self.picture.matrices]
        rest = [name for name in ("softmax", "mask", "masked") if name in names]
        return [[operands[0], "×", operands[1], "=", "scores"], ["scaled", None, *rest]]

    def _join(self) -> list:
        mine, contexts = self.head, []
        for head, output in enumerate(self.steps["attn.output"]):
            name = "context" if head == mine else f"context of head {head}"
            contexts.append(name)
            if head != mine:
                self.picture.add(name, output, role="value", **self.rows)
        n = self.windows["N"]
        self.picture.add(
            "heads",
            self.steps["attn.concat"],
            "heads",
            role="value",
            op=lv.concat(*contexts),
            windows=("", n),
            **self.rows,
        )
        more = (self.block.attn.projection, "heads", "O", (n, self.windows["C"]), "weights")
        return self._linear("attention", self.steps["attn"], *more)

    def _linear(
        self,
        name: str,
        values: Tensor,
        part: nn.Linear,
        read: str,
        letters: str,
        seen: tuple[str, str],
        role: str,
    ) -> list:
        bias = None if part.bias is None else (f"b_{letters}", part.bias.detach()[None])
        weight = (f"W_{letters}", part.weight.detach().T)
        more = {"role": role, **self.rows}
        names = linear(self.picture, name, values, read, weight, bias, seen, "", **more)
        return [[read, "×", *_with_signs(names)]]

    def _sum(self, number: int, part: str) -> list:
        name = f"sum {number}" if number == 1 or self.norm == "post" else "out"
        source = self.stream
        op = lv.add(source, part)
        self.add(name, self.steps[f"sum{number}"], role="residual", op=op)
        self.stream = self.read = name
        return [[source, "+", part, "=", name]]

    def _up(self) -> list:
        c, f = self.windows["C"], self.windows["F"]
        mlp: Any = self.block.mlp
        hidden = self.steps["mlp.hidden"]
        if mlp.up is None:
            return self._linear("hidden", hidden, mlp.hidden, self.read, "up", (c, f), "value")
        x = self._what_is_read()
        rows = self._linear("gate", hidden, mlp.hidden, self.read, "gate", (c, f), "value")
        second = self._linear("up", mlp.up(x).detach(), mlp.up, self.read, "up", (c, f), "value")
        return [*rows, [None, None, *second[0][2:]]]

    def _act(self) -> list:
        act, mlp = self.steps["mlp.act"], self.block.feed_forward
        seen: dict[str, Any] = {"windows": ("", self.windows["F"]), "role": "value"}
        name = words.activations[self.config.activation]
        if mlp.up is None:
            op = lv.function("hidden", name)
            formula = f"{name} of hidden"
            self.picture.add("act", act, "act", formula, op=op, **seen, **self.rows)
            return [["hidden", "→", "act"]]
        gate = mlp.activation(self.steps["mlp.hidden"])
        op = lv.function("gate", "SiLU")
        self.picture.add("open gate", gate, "SiLU(gate)", op=op, **seen, **self.rows)
        op = lv.multiply("open gate", "up")
        self.picture.add("act", act, "act", "SiLU(gate) × up", op=op, **seen, **self.rows)
        return [["gate", "→", "open gate", "×", "up", "=", "act"]]

    def _down(self) -> list:
        seen = (self.windows["F"], self.windows["C"])
        output = self.block.feed_forward.output
        return self._linear("feed-forward", self.steps["mlp"], output, "act", "down", seen, "value")


def _with_signs(names: list[str]) -> list[str]:
    """W, b and their product with signs between them."""
    *learned, product = names
    return [learned[0], *([] if len(learned) == 1 else ["+", learned[1]]), "=", product]
