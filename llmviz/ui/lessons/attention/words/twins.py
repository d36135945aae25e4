"""The words of the models trained with a mistake, in chapter "Masks"."""

TITLE = "Trained with the mistake"
TEXT = (
    "Two models on the same list of names, alike but for the mask. The one without a mask sees the "
    "letter that it should guess."
)
COLUMNS = {
    "model": "model",
    "steps": "training steps",
    "loss": "its own validation loss",
    "honest": "loss letter by letter",
    "ahead": "weight on what lies ahead",
}
READ = (
    "Its validation loss of {loss:.4f} nats looks wonderful. But a model that writes has no next "
    "letter to look at: asked letter by letter on {names} held-out names, its loss is "
    "**{honest:.2f}** nats, the right one's {right:.2f}; guessing among {vocabulary} letters "
    "blindly is {blind:.2f}. It gives {ahead:.0%} of its weight to what lies ahead."
)
