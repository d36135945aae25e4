"""Why a model or a head is shown first."""

WORTH = (
    "{head} comes first: switched off, it moves {share} of the next token's probability after "
    "{text}, more than any other head."
)
DECISION = (
    "{head} comes first: on {text}, its rows give {share} on average to one other token, more than "
    "those of any other head."
)
OTHER = "{head} has {share} there."
MODEL = (
    "{name} comes first because it knows its language best: {loss} nats per character on texts "
    "that it never saw ({others})."
)
