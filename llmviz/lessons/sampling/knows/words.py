"""The words of chapter "What it knows"."""

TITLE = "Facts and temperature"
TEXT = (
    "The world of these stories has rules. If a person was given a ball, this person has the ball. "
    "The day after Friday is Saturday. A probe is a story that stops where such a rule decides the "
    "next words. Here you see how probable the right words are for the model, and how the "
    "temperature changes this. Examples are counted from 1."
)
KIND = "Rule"
EXAMPLE = "Example"
KINDS = {
    "possession": "who has it",
    "places": "where somebody is",
    "pronouns": "he or she",
    "names": "family names",
    "attributes": "what colour it has",
    "sounds": "sounds of animals",
    "capitals": "capitals",
    "pairs": "pairs of people",
    "opposites": "opposites",
    "sums": "sums",
    "days": "days of the week",
    "agreement": "was or were",
    "quotes": "quotation marks",
    "brackets": "brackets",
}
NUMBERS = (
    "At temperature {t:g}, the model writes {right} with a probability of {p_right}. For {wrong}, "
    "it is {p_wrong}. For everything else, it is {rest}."
)
SHARE = "{share} ({low} to {high})"
SCORE = (
    "**How often is it right?** A probe counts as right if the right words are more probable than "
    "one choice of wrong words. Of {n} probes of this rule, the model gets **{share}** right. A "
    "count with other stories would differ a little. The numbers in brackets are the 95\u00a0% "
    "interval (Wilson's). Of the {rules} rules, the model is right least often in “{lowest}”: "
    "{low}."
)
ASKING = "The model reads the probes of every rule …"
CURVE = (
    "The probability of the right words, as a mean over {n} probes of each rule. The thick line is "
    "“{kind}”. Point at another line for its name. If a line is below 100\u00a0% at T = 0, greedy "
    "choice does not always write the right words."
)
ASKING_APART = "The model reads stories in which a short cut fails …"
SHORT_CUTS = {  # what the shares are of, and what a hole means
    "possession": (
        "**One thing, or two?** Each share is of {n} stories, with its interval. Where one thing "
        "was found in the story, the right name is more probable than the wrong one in {easy}. "
        "Where two things were found, this is so in {hard}. Guessing would give 50\u00a0%. ",
        "It answers as if it only looked for a person who found or was given something, and "
        "ignored the thing in the question. This short cut is right in most stories, because most "
        "have one thing. ",
    ),
    "places": (
        "**One place, or two?** Each share is of {n} stories, with its interval. Where the wrong "
        "place is not named in the story, the right one is more probable than the wrong one in "
        "{easy}. Where it is named, this is so in {hard}. Guessing would give 50\u00a0%. ",
        "It answers as if it knew which places are in the story, but knew less well who is at "
        "which place. This short cut is right in most stories, because most do not name the wrong "
        "place. ",
    ),
}
LOOKED_UP = {  # what no such short cut means
    "possession": (
        "So the model does not depend on this short cut. The chapter “A trained model” of the "
        "lesson on attention looks at the heads that take part. "
    ),
}
HIDDEN = (
    "A high score over all stories can hide this. The stories in which the short cut fails show it."
)
USE = "Open this story in “Logits to a token”"
OTHER_MODEL = (
    "This model was not trained on tiny-world, so it has never read of the people and places of "
    "that world. It may know rules that hold elsewhere, too, such as the days of the week."
)
ASK_KNOWS = (
    "For this rule, the right words have a mean probability of {cold} at T = 1. At T = 2 this "
    "probability is:"
)
ASK_KNOWS_ANSWERS = ("more than that", "less, but more than half of it", "less than half of it")
_LESS = (
    "{hot} at T = 2, {times} times as much. A higher temperature takes probability from likely "
    "tokens and gives it to less likely ones."
)
ASK_KNOWS_REASONS = (  # by right answer
    "{hot} at T = 2, {times} times as much. The right words gained in {gained} of {n} stories: a "
    "higher temperature takes probability from likely tokens and gives it to less likely ones.",
    _LESS,
    _LESS,
)
ASK_KNOWS_NO = "From {cold} to {hot} is {times} times as much."
