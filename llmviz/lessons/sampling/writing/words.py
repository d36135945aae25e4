"""The words of chapter "Writing"."""

TITLE = "One token, and once more"
TEXT = (
    "To write a text, the drawn token is put behind the prompt and the model is asked again. The "
    "stronger a token's colour, the more probable it was to the model. Point at one for its "
    "numbers; click it to see what else could have stood there, take that instead, and let the "
    "story go another way."
)
WRITER = {
    "one": "One token",
    "run": "Write",
    "stop": "Stop",
    "clear": "Start again",
    "nothing": "Nothing is written yet. Press “Write”, or go token by token.",
    "ended": "The model ended its text here: it drew <|endoftext|>.",
    "full": "{n} tokens are the limit here.",
    "slid": "Past this point the window slides: the model sees the last {context} tokens only.",
    "scale": "probability of each token",
    "alternatives": "What could have stood here",
    "tree": "Ways that you went",
    "trunk": "first way",
}
NUMBERS = (
    "**{n}**: {distinct:.0%} of them are different ones, {repetition:.0%} of all threes of tokens "
    "had occurred before, and the model gives a token {mean} nats on average "
    "(probability {p})."
)
FORK_LIMIT = "Sixteen ways are the limit; start again to go others."
FORK_LOST = (
    "The link's other ways to go on do not fit this prompt and model; the first one is shown."
)
IN_CONTEXT = "“{token}” after “… {before}”"
ASK_ENTROPY = (
    "The model was least sure in front of one of these tokens: there the [[entropy]] was highest. "
    "Which?"
)
ASK_ENTROPY_REASON = (
    "Before {token} the entropy was {entropy:.2f} nats, as if choosing among {among} equal ones."
)
SETTINGS = "Settings"
