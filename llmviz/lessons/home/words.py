"""Everything that the home page says."""

TEXT_LABEL = "Your text"
MODEL_LABEL = "Model"

# How the position of a token gets into a model, for the sentence on vectors.
POSITIONS = {
    "learned": "The vector of position {position} is added.",
    "sinusoidal": "A vector of waves for position {position} is added.",
    "rotary": (
        "Nothing is added for position {position}. Instead, every layer turns queries and keys by "
        "an angle that depends on the position."
    ),
    "none": "This model gets no positions.",
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
    "start": "the start token; this app puts it before every text",
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
        "cells": (
            "a vector, one cell for each number; ± below it: where the colours end (1 number in 20 "
            "is larger)"
        ),
        "curves": "attention, as thick as its weight",
        "query": "query",
        "key": "key",
        "value": "value (area: the vector's length)",
        "stream": "residual stream, thicker where its vector is longer",
        "network": "what the MLP adds (area: the length of this vector, within a layer)",
        "truth": "in the list: the token that really follows in your text",
    },
    "say": {
        "rest": (
            "After {token}, the most probable next token is {best}, with {share}. Point at a "
            "token to follow it through the machine, or press play and go through it stage by "
            "stage."
        ),
        "tokens": (
            "The text is cut into tokens, pieces that the model knows. With the start token, there "
            "are {count}. Each token keeps its row from here to the end."
        ),
        "ids": (
            "{token} has the number {id} in a table of {vocab} tokens: its id. From here on, the "
            "model has only numbers. It never sees a letter."
        ),
        "vectors": (
            "Row {id} of a table of {vocab} × {width} numbers is the vector of {token}. {placed} "
            "So at the start, the row of {token} is these {width} numbers: {numbers}, …"
        ),
        "attention": (
            "In layer {layer}, head {head}, {token} takes its largest share from {first}: "
            "{firstShare}. The other shares that it takes add up to {othersShare}."
        ),
        "network": (
            "The feed-forward network (MLP) of layer {layer} reads each row by itself. For {token} "
            "it gives a vector of length {added}. After this layer, the vector of the row has the "
            "length {length}."
        ),
        "scores": (
            "{last} multiplied with {vocab} vectors, one for each token of the vocabulary. That "
            "gives {vocab} scores. The highest is {score}, for {best}."
        ),
        "next": (
            "Softmax turns the scores into probabilities: after {token}, {best} gets {share}. When "
            "a token is written, it becomes the next row, and everything is computed again. "
            "{following}"
        ),
    },
}


# How the last vector goes into the scores, by where a model has its norms.
LAST_VECTOR = {
    "pre": "The last vector of {token} is normalised once more. Then it is",
    "post": "The last vector of {token} is",
    "none": "The last vector of {token} is",
}
FOLLOWS = "Next comes {next}."
FOLLOWS_NOT = "Here the model ends the text."


def picture(positions: str, norm: str, ends: bool) -> dict:
    """Return what the picture says of a model with these positions and norms.

    ends: whether the next token is the one that ends a text.
    """
    say = PICTURE["say"]
    own = {
        "vectors": say["vectors"].replace("{placed}", POSITIONS[positions]),
        "scores": say["scores"].replace("{last}", LAST_VECTOR[norm]),
        "next": say["next"].replace("{following}", FOLLOWS_NOT if ends else FOLLOWS),
    }
    return PICTURE | {"say": say | own}


NO_MODEL = (
    "No trained model is in this copy, so there are no vectors, attention or predictions to show. "
    "Make one with the command below (it takes some hours). Then open this page again."
)
NO_MODEL_SHORT = "No trained model is in this copy."
NO_MODEL_COMMAND = "python -m llmviz checkpoints make tiny-world-gpt"
ENGINE_FAILED = "The model cannot run here: {problem}"
RETRY = "Try again"
EMPTY = "There is no text. The model starts from its start token alone and begins a new text."
SLID = (
    "Your text has {count} tokens, but the model's context holds {context}. The model reads the "
    "last {context} and nothing before them."
)
TOO_LONG = "Your text has {all} characters. The machine reads the last {limit}."
UNKNOWN = (
    "This model's tokenizer does not know all of the text. It reads {unknown} of the {count} "
    "tokens as “unknown”."
)

BROKEN = (
    "The next tokens are single bytes. Together they do not make a character, so they cannot be "
    "added to the text."
)

DRAW_LABEL = "How the next token is chosen"
TEMPERATURE_LABEL = "Temperature"
TEMPERATURE_HELP = (
    "At 0, the most probable token is taken. Above 0, a token is drawn, at 1 with the model's own "
    "probabilities. Below 1, probable tokens come more often. Above 1, improbable tokens come more "
    "often."
)
SEED_LABEL = "Seed"
SEED_HELP = "The same seed draws the same tokens from the same text."
DRAWN = (
    "Drawn at temperature {temperature}. The model's own probability of this token is "
    "{probability}, number {rank} from the top of {vocab}."
)

QUESTIONS_TITLE = "Questions about the picture"
SUM_QUESTION = (
    "In layer {layer}, head {head}, the row of {token} gives a weight to each of the {count} "
    "tokens that it can see. The largest is {largest}. What do all of these weights add up to?"
)
SUM_ANSWERS = ("1, always", "{count}, one for each token", "It depends on the text")
SUM_REASONS = (
    (
        "The scores of a row go through [[softmax]]: e to the power of each score is divided by "
        "the sum of all these powers. So the weights add up to 1. Here: {sum}."
    ),
    "Each weight is only a share of the row. The {count} weights add up to {sum}.",
    "The weights depend on the text, but their sum does not. Softmax makes it 1. Here: {sum}.",
)
ROUNDED = " (each number is rounded)"
CHANGE_QUESTION = (
    "Replace the last token, {token}, with {other}. In which of the {count} rows do numbers change?"
)
CHANGE_ANSWERS = ("In all {count}", "Only in the last one", "In all but the last one")
CHANGE_REASONS = (
    "A row never looks ahead. The model was run again with {other}. In the {earlier} rows before, "
    "the largest change is {before}. In the last row it is {after}.",
    "The [[causal mask]] lets a row see only itself and what came before. The model was run again "
    "with {other}. The largest change in the {earlier} rows before is {before}, in the last row "
    "{after}.",
    "It is the other way round. The last row changes by up to {after}, the {earlier} rows before "
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
    "Each model was trained from a seed by this project's own code, and "
    "`python -m llmviz checkpoints make NAME` makes it again. Loss is in [[nats]] per token on "
    "texts that were not used in training. The floor, if it is known, is the loss of the best "
    "possible model. Even this model cannot guess what is random in the texts."
)
MODEL_COLUMNS = ["Name", "What it is", "Parameters", "Trained on", "Loss", "Floor"]
MORE_MODELS = (
    "You can add models. Train one in the lesson on training, or fetch a published one such as "
    "GPT-2 in the last chapter of *Inside the transformer*. This page and the lessons offer both."
)
DEVICE = "Models run on {device}."
DEVICE_LATER = "The device that models run on is shown here after torch has loaded."
