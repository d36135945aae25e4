"""Everything that the home page says."""

TEXT_LABEL = "Your text"
MODEL_LABEL = "Model"

# How a model is told where a token stands, for the sentence on vectors.
POSITIONS = {
    "learned": "The vector of position {position} is added, and",
    "sinusoidal": "A wave for position {position} is added, and",
    "rotary": (
        "Nothing is added for position {position}: in every layer, queries and keys are turned by "
        "it. So"
    ),
    "none": "This model is not told the position. So",
}

# What the picture says. In braces stand live numbers.
PICTURE = {
    "picture": (
        "The machine. Arrow up and down choose a token, left and right move through the stages."
    ),
    "titles": {
        "tokens": "Tokens",
        "ids": "Ids",
        "vectors": "Vectors",
        "layer": "Layer {layer}",
        "scores": "Scores",
        "next": "Next token",
    },
    "of": "of {vocab}",
    "wide": "× {width}",
    "after": "after {token}",
    "head": "head",
    "attention": "attention",
    "network": "MLP",
    "start": "the end-of-text token, which stood before every training text",
    "end": "end of text",
    "before": "earlier tokens",
    "earlier": "… {count} earlier",
    "rest": "{count} others",
    "open": "open this lesson",
    "widen": "open this layer wide",
    "loading": "The model is being loaded.",
    "write": "Write {token}",
    "writeTen": "Write 10",
    "writing": "{done} of {wanted} written",
    "stop": "Stop",
    "ended": "The model ends the text here.",
    "card": {
        "weight": "weight",
        "where": "in",
        "vector": "vector",
        "entering": "as it enters",
        "after": "after layer {layer}",
        "numbers": "numbers",
        "length": "length",
        "attention": "attention adds",
        "network": "MLP adds",
        "id": "id",
        "score": "score",
        "probability": "probability",
    },
    "legend": {
        "cells": "a vector, a cell for each number; ± below: its scale, passed by 1 in 20",
        "curves": "attention, as thick as its weight",
        "query": "query",
        "key": "key",
        "value": "value (area: the vector's length)",
        "stream": "residual stream, thicker where its vector is longer",
        "network": "what the MLP adds (area: its length, within a layer)",
        "truth": "in the list: the token that really follows",
    },
    "say": {
        "rest": (
            "After {token} the model expects {best} with {share}. Point at a token to follow it "
            "through the machine, or press play and go through it stage by stage."
        ),
        "tokens": (
            "The text is cut into tokens, pieces that the model knows. With the start token, their "
            "number is {count}. They keep their rows from here to the end."
        ),
        "ids": (
            "{token} is token {id} of {vocab}. From here on the model has only numbers; it never "
            "sees a letter."
        ),
        "vectors": (
            "Token {id} is row {id} of a table of {vocab} × {width} numbers. {placed} {token} goes "
            "in as {numbers} … {width} numbers."
        ),
        "attention": (
            "Layer {layer}, head {head}: of what {token} gathers, {firstShare} comes from {first}, "
            "the rest ({othersShare}) from the other tokens that it can see, {others} in number."
        ),
        "network": (
            "The feed-forward network (MLP) of layer {layer} looks at each row by itself. To the "
            "row of {token} it adds a vector of length {added}; the row leaves with {length}."
        ),
        "scores": (
            "The last vector of {token} is normalised once more and multiplied with {vocab} "
            "vectors, one for each token. That gives {vocab} scores; the highest, {score}, is that "
            "of {best}."
        ),
        "next": (
            "Softmax makes probabilities of the scores: {best} gets {share}. The token that is "
            "written, {next}, becomes the next row, and everything runs once more."
        ),
    },
}


def picture(positions: str) -> dict:
    """Return what the picture says of a model that is told positions in this way."""
    vectors = PICTURE["say"]["vectors"].replace("{placed}", POSITIONS[positions])
    return PICTURE | {"say": PICTURE["say"] | {"vectors": vectors}}


NO_MODEL = (
    "No trained model is in this copy, so there are no vectors, attention or predictions to show. "
    "Make one with the command below (it takes a while), then open this page again."
)
NO_MODEL_SHORT = "No trained model is in this copy."
NO_MODEL_COMMAND = "python -m llmviz checkpoints make tiny-world-gpt"
ENGINE_FAILED = "The model cannot run here: {problem}"
RETRY = "Try again"
EMPTY = "There is no text. The model starts from its start token alone and expects a new story."
SLID = (
    "Your text has {count} tokens, the model's context holds {context}. It reads the last "
    "{context}; what came before no longer counts."
)
TOO_LONG = "Your text has {all} characters. The machine reads the last {limit}."
UNDRAWN = (
    "The last {rows} tokens are drawn. The model sees the {count} before them too; the curves "
    "that come from above are their weights together."
)
UNKNOWN = (
    "This model's tokenizer does not know every character of the text; it reads {unknown} of the "
    "{count} tokens as “unknown”."
)

BROKEN = (
    "The next tokens are single bytes that make no character together, so they cannot be written "
    "into a text."
)

DRAW_LABEL = "How the next token is taken"
TEMPERATURE_LABEL = "Temperature"
TEMPERATURE_HELP = (
    "0 takes the most probable token. Above 0 a token is drawn: at 1 with the model's own "
    "probabilities, below 1 the probable ones more often, above 1 the improbable ones."
)
SEED_LABEL = "Seed"
SEED_HELP = "The same seed draws the same tokens from the same text."
DRAWN = (
    "Drawn at temperature {temperature}: the model's own probability of this token is "
    "{probability}, place {rank} of {vocab}."
)

QUESTIONS_TITLE = "What the picture can answer"
SUM_QUESTION = (
    "In layer {layer}, head {head}, the row of {token} gives a weight to each of the {count} "
    "tokens that it can see. The largest is {largest}. What do all of them add up to?"
)
SUM_ANSWERS = ("1, always", "{count}, one for each token", "It depends on the text")
SUM_REASONS = (
    "The scores of a row go through [[softmax]], which divides by their sum. Here: {sum}.",
    "Each weight is a share of the row, not a whole: the {count} weights add up to {sum}.",
    "The shares depend on the text, their sum does not: softmax makes it 1. Here: {sum}.",
)
CHANGE_QUESTION = (
    "Suppose the last token, {token}, were {other} instead. In how many of the {count} rows would "
    "any number in the machine change?"
)
CHANGE_ANSWERS = ("In all {count}", "Only in the last one", "In all but the last one")
CHANGE_REASONS = (
    "A row never looks ahead. The model was run again with {other}: in the {earlier} rows before, "
    "the largest change is {before}; in the last row it is {after}.",
    "The [[causal mask]] lets a row see only itself and what came before. Run again with {other}, "
    "the largest change in the {earlier} rows before is {before}, in the last row {after}.",
    "It is the other way round: the last row changes by up to {after}, the {earlier} rows before "
    "by {before}. No row looks ahead.",
)

CODE_TITLE = "The code behind the picture"
CODE_LABEL = "Show the code of one forward pass"

LESSONS_TITLE = "What you will see in each lesson"
# The lesson that each stage of the picture leads to, where its page exists.
STAGE_LESSONS = {
    "tokens": "tokenization",
    "vectors": "embeddings",
    "layer": "attention",
    "scores": "transformer",
    "next": "sampling",
}

MODELS_TITLE = "The models in this copy"
MODELS_TEXT = (
    "Each was trained from a seed by this project's own code; "
    "`python -m llmviz checkpoints make NAME` makes it again. Loss is in [[nats]] per token on "
    "texts that the model never saw. The floor is what the randomness of the texts leaves even to "
    "the best possible model, where it is known."
)
MODEL_COLUMNS = ["Name", "What it is", "Parameters", "Trained on", "Loss", "Floor"]
MORE_MODELS = (
    "More can join them: a model that you train, and a published one such as GPT-2, which the last "
    "chapter of *Inside the transformer* fetches once. This page and the lessons offer both."
)
DEVICE = "Models run on {device}."
DEVICE_LATER = "Which device models run on is known once torch has loaded."
