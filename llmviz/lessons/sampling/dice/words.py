"""The words of chapter "The dice"."""

TITLE = "Why was the most probable token not taken?"
TEXT = (
    "Lay all tokens side by side, each as wide as its probability: a strip from 0 to 1. A random "
    "number u is one point on it, and the token that lies there is taken. That is all that chance "
    "does, and the same seed throws the same points again."
)
WHY = (
    "Because the point fell elsewhere. {top} is the most probable with {p}: it is taken when u "
    "lies between {start:.4f} and {end:.4f}. This time u was **{u:.4f}**, which is where {drawn} "
    "lies. In {others} of 100 draws, on average, something other than {top} is taken."
)
TOP = (
    "This time it was: {top} lies from {start:.4f} to {end:.4f} and u was **{u:.4f}**. With a "
    "probability of {p}, though, something else is taken in {others} of 100 draws, on average."
)
SURE = "Nothing else can be drawn: with these settings {top} has the whole strip for itself."
ONE = "Draw once"
MORE = "{n:,} more"
REPLAY = "Replay from the start"
COUNTS = (
    "After **{n}** of seed {seed}: frequencies (bars) beside probabilities (marks). The whiskers "
    "are two standard deviations; about 19 of 20 bars end inside them."
)
CURVE = (
    "How far the frequencies still are from the probabilities, over the whole vocabulary. In "
    "the long run four times as many draws halve the distance."
)
ASK_DICE = (
    "After 100 draws the frequencies are off by {first} in total. After 10,000 draws, a hundred "
    "times as many, by about:"
)
ASK_DICE_ANSWERS = ("a hundredth of that", "a tenth of that", "half of that")
ASK_DICE_REASON = "{last} in this run: chance shrinks with the square root, and √100 = 10."
ASK_DICE_NO = "The error does not fall in step with the number of draws, but with its square root."
