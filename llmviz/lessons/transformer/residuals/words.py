"""All that the chapter "Residuals" says. Names in braces are filled in with live numbers."""

TITLE = "Why a layer adds to its input"
TEXT = (
    "A layer could replace its input by its output. Instead, it adds its output to its input: the "
    "input takes a shortcut around the layer. The effect is seen when the [[gradient]] of the loss "
    "goes back through the layers. (The loss is the number that training makes smaller.) Here a "
    "stack of untrained layers is built twice, with shortcuts and without. One forward and one "
    "backward pass are computed for each."
)
DEPTH = "Layers"
NORM = "Norm"
NORMS = {"none": "None", "pre": "Before each part", "post": "After each addition"}
WITH = "with shortcuts"
WITHOUT = "without"
AXIS = "layers passed by the input"
GRADIENT = "length of the gradient"
READ = (
    "Without shortcuts, the gradient that reaches the input is {without} times as long as the "
    "gradient at the end of the stack. With shortcuts it is {with_} times as long. The gradients "
    "of a layer's weights are computed from the gradient that reaches the layer. Plain gradient "
    "descent changes each weight in proportion to its gradient."
)
GROWS = (
    "With shortcuts and no norms it grows much: each layer passes the whole gradient on and adds a "
    "part of its own. With norms before each part it is {normed} times as long. You can choose "
    "them above."
)
NOTE = (
    "Width 32, 16 random vectors, seed 0, weights with deviation 1/√inputs, in float64. Nothing "
    "was trained: this is where training starts."
)
ASK = (
    "Take {layers} without shortcuts, {norms}. How long is the gradient at the input, compared "
    "with the gradient at the end?"
)
ASK_NORMS = {
    "none": "without norms",
    "pre": "with norms before each part",
    "post": "with norms after each part",
}
ANSWERS = (
    "as long, or longer",
    "shorter, but more than a tenth of it",
    "between a tenth and a thousandth of it",
    "a thousandth of it or less",
)
RIGHT = "It is {share} times as long."
WRONG = "It is {share} times as long, which is not in this range."

STREAM_TITLE = "What the stream of your text is made of"
STREAM_TEXT = (
    "If the layers of a model only add to the stream, the vector of a token is a sum of three "
    "parts. The first is its embedding, with that of its position if the model adds one. The "
    "second is all that attention has added so far. The third is all that the feed-forward layers "
    "have added so far. The share of a part is its length along the vector, divided by the "
    "vector's length. Shares add up to 1. The share of a part that points against the vector is "
    "negative."
)
SHARES = "share of the vector"
NORMS_AXIS = "length of the vector"
PARTS = {"embedding": "embedding", "attention": "attention", "mlp": "feed-forward"}
EMBEDDINGS = "embeddings"
AFTER = "after layer {layer}"
STREAM_READ = (
    "Over the {tokens} of your text, the length of the vector goes from {first:.2f} after the "
    "embeddings to {last:.2f} after the last layer. At the end the shares are: embedding "
    "{embedding}, attention {attention}, feed-forward layers {mlp}. All numbers are means over the "
    "tokens."
)
