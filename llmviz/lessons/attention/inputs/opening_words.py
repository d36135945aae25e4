"""Why a model or a head is shown first."""

WORTH = (
    "{head} is the head shown first. After {text}, switching it off moves {share} of the "
    "probability of the next token. No other head moves more."
)
DECISION = (
    "{head} is the head shown first. On {text}, each token gives {share} of its weight, on "
    "average, to one token other than itself and the first. No other head gives more."
)
OTHER = "For {head} it is {share}."
MODEL = (
    "{name} is the model shown first, because no other model here has a lower loss. Its loss is "
    "{loss} nats per character on texts that it was not trained on ({others})."
)
