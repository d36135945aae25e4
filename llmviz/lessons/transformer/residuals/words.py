"""All that the chapter "Residuals" says. Names in braces are filled in with live numbers."""

TITLE = "Why a layer adds to its input"
TEXT = (
    "A layer could replace its input by its output. It adds its output to the input instead: the "
    "input takes a shortcut past it. What that does is seen when the [[gradient]] comes back from "
    "the loss, the number that training makes smaller. Here a stack of untrained layers is built "
    "twice, with shortcuts and without, and one pass forward and back is computed for each."
)
DEPTH = "Layers"
NORM = "Norm"
NORMS = {"none": "None", "pre": "Before each part", "post": "After each addition"}
WITH = "with shortcuts"
WITHOUT = "without"
AXIS = "layers passed by the input"
GRADIENT = "length of the gradient"
READ = (
    "Without shortcuts the gradient that reaches the input is {without} times as long as the one "
    "at the end of the stack; with them it is {with_} times as long. The gradients of a layer's "
    "weights are computed from the one that reaches the layer, and plain gradient descent moves "
    "weights in proportion to theirs."
)
GROWS = (
    "With shortcuts alone it grows far: each layer passes the whole gradient on and adds its own. "
    "With norms before each part, which can be chosen above, it is {normed} times as long."
)
NOTE = (
    "Width 32, 16 random vectors, seed 0, weights with deviation 1/√inputs, in float64. Nothing "
    "was trained: this is where training starts."
)
ASK = (
    "Take {layers} without shortcuts, {norms}. The gradient at the input, compared with the one at "
    "the end: how long is it?"
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
WRONG = "It is {share} times as long, so this is not the range."

STREAM_TITLE = "What the stream of your text is made of"
STREAM_TEXT = (
    "In a model whose layers only add to the stream, the vector of a token is the sum of three "
    "things: its embedding (with that of its position, if the model adds one), what all attention "
    "so far has added, and what all feed-forward layers so far have added. The share of "
    "a part is how much of the vector's length it makes: its length along the vector, divided "
    "by the vector's length. Shares add up to 1; one that points against the whole is negative."
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
