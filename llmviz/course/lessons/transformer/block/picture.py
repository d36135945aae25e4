"""A layer as a picture of stages, and its weights, kept for all visitors."""

from llmviz.course import components as lv
from llmviz.course.lessons.transformer.block.drawing import Drawing
from llmviz.course.lessons.transformer.subject import Subject
from llmviz.course.ui import kit
from llmviz.models.gpt import Block


@kit.kept(8, key=lambda subject: subject.in_model)  # 28 MB each at the shape of GPT-2
def weights_of(subject: Subject) -> lv.Weights:
    """Return the matrices of a layer that no head has for itself."""
    return layer_weights(subject.model.blocks[subject.layer])


def layer_weights(block: Block) -> lv.Weights:
    """Take the matrices out of a layer that no head has for itself."""
    linears = {"W_O": block.attn.projection, "W_up": block.mlp.hidden, "W_down": block.mlp.output}
    if block.mlp.up is not None:
        linears |= {"W_gate": block.mlp.hidden, "W_up": block.mlp.up}
    return lv.Weights.of({key: linear.weight.T.numpy() for key, linear in linears.items()})


@kit.kept(32, key=lambda subject, head: (subject.in_model, head))
def head_weights_of(subject: Subject, head: int) -> lv.Weights:
    """Return W_Q, W_K, W_V of a head."""
    return head_weights(subject.model.blocks[subject.layer], head)


def head_weights(block: Block, head: int) -> lv.Weights:
    """Take W_Q, W_K, W_V of a head out of a layer."""
    parts = block.attn.projections(head)
    return lv.Weights.of(
        {f"W_{letter}": part.numpy() for letter, part in zip("QKV", parts, strict=True)}
    )


@kit.kept(32)
def picture_of(subject: Subject, head: int) -> lv.StagePicture:
    """Return the picture of a layer and one of its heads."""
    drawn = Drawing(subject.model, subject.steps, subject.ids, subject.tokens, subject.layer, head)
    weights = [weights_of(subject), head_weights_of(subject, head)]
    return staged(drawn, weights)


def staged(drawn: Drawing, weights: list[lv.Weights]) -> lv.StagePicture:
    """Return the picture of a layer that is to be drawn."""
    stages = drawn.stages()
    return lv.stage_picture(drawn.picture.matrices, stages, drawn.picture.windows, weights)
