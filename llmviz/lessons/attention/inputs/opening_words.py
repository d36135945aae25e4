"""Why a model or a head is shown first."""

WORTH = (
    "{head} comes first: switched off, it moves {share} of the next token's probability after "
    "{text}, more than any other head."
)
DECISION = (
    "{head} comes first: on {text}, each row gives {share} on average to a single token other than "
    "itself and the first, more than in any other head."
)
OTHER = "For {head} it is {share}."
MODEL = (
    "{name} comes first because its loss is the lowest: {loss} nats per character on texts that it "
    "was not trained on ({others})."
)
