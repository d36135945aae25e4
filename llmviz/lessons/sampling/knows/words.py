"""The words of chapter "What it knows"."""

TITLE = "Facts under heat"
TEXT = (
    "The world of these stories has rules: who was given a ball has it, the day after Friday is "
    "Saturday. A story up to a place where such a rule decides is a probe. Watch what the model "
    "gives to the right words there, and how temperature takes it away."
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
    "At temperature {t:g} the model writes {right} with {p_right}, {wrong} with {p_wrong}, "
    "and something else with {rest}."
)
ASKING = "Asking about every rule …"
CURVE = (
    "The chance that the right words are written, over {n} probes of each rule. The thick line is "
    "“{kind}”; point at the others for their names. Rules that the model has learnt well stand "
    "heat for longer; where it is unsure, even T = 0 is sometimes wrong."
)
ASKING_APART = "Asking about stories that tell knowing from a short cut …"
SHORT_CUTS = {  # what the shares are of, and what a hole means
    "possession": (
        "**One thing, or two?** Where one thing was found in a story, the model gives the right "
        "name more than the wrong one in {easy} of {n} stories; where two were, in {hard}. A coin "
        "would have 50\u00a0%. ",
        "So it has learnt to look for whoever found or was given something, and not to ask which "
        "thing it was: a short cut that is right in most stories, since most have one thing. ",
    ),
    "places": (
        "**One place, or two?** Where the wrong place is not named in a story, the model gives "
        "the right one more than the wrong one in {easy} of {n} stories; where it is named, in "
        "{hard}. A coin would have 50\u00a0%. ",
        "So it has learnt well which places a story names, and less well who is at which: a short "
        "cut that is right in most stories, since in most of them everybody is at one place. ",
    ),
}
LOOKED_UP = {  # what no hole means
    "possession": "So it asks which thing it was and looks up who has it. The lesson on attention "
    "shows the heads that do so, in “A trained model”. ",
}
HIDDEN = "A high score may hide such a hole; stories made to tell the two apart find it."
USE = "Open this story in “Logits to a token”"
OTHER_MODEL = (
    "This model was not trained on tiny-world, so it cannot know the rules of that world; the "
    "probes are asked all the same."
)
ASK_KNOWS = "For this rule, the right words have {cold} at T = 1. At T = 2 they will have:"
ASK_KNOWS_ANSWERS = ("more", "between half of that and all of it", "less than half of that")
ASK_KNOWS_REASON = "{hot} at T = 2: the {v:,} tokens of the tail each gain a little, and share it."
ASK_KNOWS_NO = "Heat moves probability from the likely tokens to the thousands of unlikely ones."
