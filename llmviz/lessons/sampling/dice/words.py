"""The words of chapter "The dice"."""

TITLE = "Why is the most probable token not always taken?"
TEXT = (
    "All tokens lie side by side on a strip from 0 to 1. Each is as wide as its probability. A "
    "random number u from 0 to 1 is one point on the strip. The token at this point is taken. "
    "Nothing else is random. The same seed always gives the same numbers. [[greedy|Greedy]] choice "
    "needs no random number: it takes the widest piece each time."
)
WHY = (
    "This time, u was on the piece of another token. {top} is the most probable token, with {p}. "
    "It is taken when u lies from {start:.4f} to {end:.4f}. But u was **{u:.4f}**, and {drawn} "
    "lies there. On average, {others} of 100 draws give something other than {top}."
)
TOP = (
    "This time the most probable token was taken: {top} lies from {start:.4f} to {end:.4f}, and u "
    "was **{u:.4f}**. Its probability is {p}, so on average {others} of 100 draws give something "
    "else."
)
TIE = (
    "Here {equal} have the same highest probability, {p} each. So no single token is the most "
    "probable one. "
    "This time u was **{u:.4f}**, and {drawn} lies there."
)
SURE = "Nothing else can be drawn: with these settings {top} has the whole strip."
ONE = "Draw once"
MORE = "{n:,} more"
REPLAY = "Replay from the start"
COUNTS = (
    "You see frequencies (bars) and probabilities (marks) after **{n}** with seed {seed}. The "
    "whiskers go two standard deviations to each side. For a token that was drawn many times, the "
    "bar ends inside them in about 19 of 20 cases. For rare tokens, this rule is less exact."
)
CURVE = (
    "This is the distance between frequencies and probabilities: the sum of the differences over "
    "the whole vocabulary, divided by 2. In the long run, four times as many draws make it half as "
    "large, on average."
)
ASK_DICE = (
    "After 100 draws, this distance is {first}. After 10,000 draws, which are a hundred times as "
    "many, it is about:"
)
ASK_DICE_ANSWERS = {
    "hundredth": "a hundredth of that",
    "tenth": "a tenth of that",
    "half": "half of that",
}
_IN_STEP = (
    "A hundred times as many draws do not make the distance a hundred times smaller. It shrinks "
    "more slowly."
)
ASK_DICE_REASONS = {  # (right answer, chosen answer)
    ("tenth", "hundredth"): _IN_STEP,
    ("tenth", "tenth"): (
        "{last} with this seed. On average, the distance is divided by the square root of how "
        "many times more draws there are: √100 = 10."
    ),
    ("tenth", "half"): (
        "In the long run, four times as many draws make the distance half as large. Here there are "
        "100 times as many."
    ),
    ("half", "hundredth"): _IN_STEP,
    ("half", "tenth"): (
        "This is right in the long run, when each token that matters was drawn many times: √100 = "
        "10. Here 10,000 draws are not enough for that."
    ),
    ("half", "half"): (
        "{last} with this seed. {tokens} tokens can be drawn, and {met} of them were drawn in "
        "10,000 draws. With so many rare tokens, the distance shrinks more slowly at first."
    ),
}
