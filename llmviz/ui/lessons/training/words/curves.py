"""What the chapter on curves says."""

TITLE = "What a curve says"
TEXT = (
    "Every update of the weights leaves a point: the [[cross-entropy|loss]] on the batch it "
    "learned from. Now and then the model is also asked about texts that it never learns from; "
    "that is the validation loss, and it is the one that counts."
)
RUN = "Run"
NUMBERS = (
    "`{name}` saw {tokens} in {seconds} on one processor. Its validation loss ended at "
    "**{loss:.3f} nats** per token: on texts it never saw, it hesitates as if between "
    "{perplexity:.1f} equally likely tokens."
)
