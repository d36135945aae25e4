"""What the chapter "Numbers as bits" says of one model that is trained in several precisions."""

TITLE = "One training in six precisions"
TEXT = (
    "The same small GPT is trained on names once in each way, from the same start and on the same "
    "batches. Only the formats of its numbers differ: each way names the type of its products, and "
    "the type that holds the weights and Adam's averages. With a **scale**, the loss is multiplied "
    "by 2¹⁶ at first. If a gradient becomes infinite, there is no update in that step, and the "
    "scale is halved. After 2,000 steps in a row with an update, it is doubled."
)
WAYS_LABEL = "Ways"
WAYS = {
    "float32": "float32",
    "bfloat16": "bfloat16, weights in float32",
    "float16-scaled": "float16 with a scale, weights in float32",
    "float16": "float16 without a scale, weights in float32",
    "bfloat16-all": "all in bfloat16",
    "float16-all": "all in float16, no scale",
}
STEPS = "Steps"
SHRINK = "Loss divided by, as a power of 2"
SHRINK_TEXT = (
    "Here most gradients are large enough for float16. Divide the loss to see what happens with "
    "smaller ones: try 14. Such small gradients come, for example, from a term of the loss that "
    "has a small weight. Adam divides each gradient by its usual size. So in float32 such a factor "
    "changes little, as long as gradients are well above Adam's ε of 10⁻⁸."
)
START = "Train"
LOSS_AXES = ("steps", "loss of the batch, nats per token")
ZERO_AXES = ("steps", "share of gradients that are 0")
UNCHANGED_AXES = ("steps", "share of weights left unchanged")
ZERO_TITLE = (
    "**Gradients that are 0.** A row of a table that no name of the batch uses has gradients of 0 "
    "in every way."
)
UNCHANGED_TITLE = (
    "**Weights that stay as they are.** Their update was 0 or too small to be added, or there was "
    "no update in that step."
)
COLUMNS = (
    "way",
    "steps",
    "held-out loss, nats per token",
    "more than float32, nats per token",
    "gradients that are 0",
    "weights unchanged",
    "steps without an update",
    "seconds",
)
LAST_NOTE = (
    "Gradients and weights: at the last step. Seconds are those of the steps, measured on this "
    "machine in this run. How fast a format is depends on the processor: one without instructions "
    "for it must convert every number, and may be slower with fewer bits."
)
ENDED = "**{way}** ended at step {step}: {problem}."
SAME = (
    "float16 without a scale came as far as float32 did, within {near} nats per token: in this run "
    "a scale was not needed."
)
WORSE = (
    "float16 without a scale ended {more} nats per token above float32. At its last step "
    "{zero} of its gradients were 0; in float32 it was {other}."
)
BETTER = (
    "float16 without a scale ended {less} nats per token below float32. The two runs differ in "
    "their rounding alone. At the last step {zero} of the gradients in float16 were 0; in float32 "
    "it was {other}."
)
NEAR = 0.01  # nats per token that are called no difference
NONE = "–"
NO_WAY = "Choose at least one way to train."
