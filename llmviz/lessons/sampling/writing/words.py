"""The words of chapter "Writing"."""

TITLE = "One token after another"
TEXT = (
    "To write a text, the drawn token is added to the prompt, and the model computes new logits. "
    "The stronger a token's colour, the more probable it was for the model. Point at a token to "
    "see its numbers. Click it to see which other tokens were probable at this place. If you "
    "choose one of them, the text goes on from there."
)
WRITER = {
    "one": "One token",
    "run": "Write",
    "stop": "Stop",
    "clear": "Start again",
    "nothing": "Nothing is written yet. Press “Write” or “One token”.",
    "ended": "The text ends here, with the token <|endoftext|>.",
    "full": "{n} tokens are the limit here.",
    "slid": (
        "From the mark on, the model sees only the last {context} tokens before each new token."
    ),
    "scale": "probability of each token",
    "alternatives": "Other tokens that were probable here",
    "tree": "Your versions of the text",
    "trunk": "first version",
}
NUMBERS = (
    "**{n}**, and the number of different tokens is {distinct:.0%} of that. Of all groups of three "
    "tokens in a row, {repetition:.0%} had occurred before. The mean log-probability of a token is "
    "{mean} nats, as if each had a probability of {p}."
)
FORK_LIMIT = (
    "There can be at most sixteen versions besides the first. Press “Start again” to write others."
)
FORK_LOST = (
    "The other versions do not fit this prompt, model and settings, so only the first one is shown."
)
IN_CONTEXT = "“{token}” after “… {before}”"
ASK_ENTROPY = (
    "Before which of these tokens was the model least sure? There, the [[entropy]] was highest."
)
ASK_ENTROPY_REASON = (
    "Before {token} the entropy was {entropy:.2f} nats, as much as with {among} equally probable "
    "tokens."
)
