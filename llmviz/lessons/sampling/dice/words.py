"""The words of chapter "The dice"."""

TITLE = "Why was the most probable token not taken?"
TEXT = (
    "All tokens lie side by side on a strip from 0 to 1, each as wide as its probability. A random "
    "number u from 0 to 1 is one point on the strip, and the token at that point is taken. Nothing "
    "else is random. The same seed always gives the same numbers. "
    "[[greedy|Greedy]] choice needs no random number: it takes the widest piece each time."
)
WHY = (
    "Because u fell on another piece. {top} is the most probable token, with {p}. It is taken when "
    "u lies from {start:.4f} to {end:.4f}. This time u was **{u:.4f}**, and {drawn} lies there. On "
    "average, {others} of 100 draws give something other than {top}."
)
TOP = (
    "This time it was taken: {top} lies from {start:.4f} to {end:.4f}, and u was **{u:.4f}**. Its "
    "probability is {p}, so on average {others} of 100 draws give something else."
)
TIE = (
    "Here {equal} are equally probable, with {p} each, so there is no single most probable token. "
    "This time u was **{u:.4f}**, and {drawn} lies there."
)
SURE = "Nothing else can be drawn: with these settings {top} has the whole strip."
ONE = "Draw once"
MORE = "{n:,} more"
REPLAY = "Replay from the start"
COUNTS = (
    "After **{n}** with seed {seed}: frequencies (bars) beside probabilities (marks). The whiskers "
    "are two standard deviations wide to each side. On average, about 19 of 20 bars end inside "
    "them; bars of very rare tokens follow this rule less well."
)
CURVE = (
    "The distance between the frequencies and the probabilities, over the whole vocabulary: the "
    "sum of all differences, divided by 2. In the long run, four times as many draws halve it on "
    "average."
)
ASK_DICE = (
    "After 100 draws this distance is {first}. After 10,000 draws, a hundred times as many, it is "
    "about:"
)
ASK_DICE_ANSWERS = {
    "hundredth": "a hundredth of that",
    "tenth": "a tenth of that",
    "half": "half of that",
}
_IN_STEP = (
    "This would be in step with the number of draws. The distance shrinks more slowly than that."
)
ASK_DICE_REASONS = {  # (right answer, chosen answer)
    ("tenth", "hundredth"): _IN_STEP,
    ("tenth", "tenth"): (
        "{last} with this seed. On average, the distance shrinks with the square root of the "
        "number of draws, and √100 = 10."
    ),
    ("tenth", "half"): "In the long run, four times as many draws halve it. Here there are 100 "
    "times as many.",
    ("half", "hundredth"): _IN_STEP,
    ("half", "tenth"): (
        "This is so in the long run, when each token that counts was drawn many times: √100 = 10. "
        "Here 10,000 draws are too few for that."
    ),
    ("half", "half"): (
        "{last} with this seed. {tokens} tokens can be drawn, and 10,000 draws met {met} of them. "
        "With so many rare tokens, the distance shrinks more slowly at first."
    ),
}
