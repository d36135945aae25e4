"""All that the chapter "Residuals" says. Names in braces are filled in with live numbers."""

TITLE = "Why every layer only adds"
TEXT = (
    "A layer could replace its input by its output. It adds its output to the input instead: the "
    "input takes a shortcut past it. What that does is seen when the gradient comes back from the "
    "loss. Here a stack of untrained layers is built twice, with shortcuts and without, and one "
    "pass forward and back is computed for each."
)
DEPTH = "Layers"
NORM = "Norm"
NORMS = {"none": "None", "pre": "Before each part", "post": "After each addition"}
WITH = "with shortcuts"
WITHOUT = "without"
AXIS = "layers passed by the input"
GRADIENT = "length of the gradient"
READ = (
    "Without shortcuts the gradient that reaches the input is {without} of the one at the end of "
    "the stack; with them it is {with_}. A learning step moves weights in proportion to it."
)
GROWS = (
    "With shortcuts alone it grows too far: each layer passes the whole gradient on and adds its "
    "own. A norm keeps that small; choose one above."
)
NOTE = (
    "Width 32, 16 random vectors, seed 0, weights with deviation 1/√inputs, in float64. Nothing "
    "was trained: this is where training starts."
)
ASK = (
    "Take {layers} layers without shortcuts. The gradient at the input, compared with the one at "
    "the end: how long is it?"
)
ANSWERS = (
    "as long, or longer",
    "shorter, but more than a tenth of it",
    "between a tenth and a thousandth of it",
    "a thousandth of it or less",
)
RIGHT = "It is {share} of it."
WRONG = "It is {share} of it, so this is not the range."

STREAM_TITLE = "What the stream of your text is made of"
STREAM_TEXT = (
    "In a trained model the vector of a token is the sum of three things: its embedding, what all "
    "attention so far has added, and what all feed-forward layers so far have added. The share of "
    "a part is how much of the vector's length it makes: its length along the vector, divided "
    "by the vector's length. Shares add up to 1; one that points against the whole is negative."
)
SHARES = "share of the vector"
NORMS_AXIS = "length of the vector"
PARTS = {"embedding": "embedding", "attention": "attention", "mlp": "feed-forward"}
EMBEDDINGS = "embeddings"
AFTER = "after layer {layer}"
STREAM_READ = (
    "Over the {tokens} tokens of your text, the vector grows from {first:.2f} after the embeddings "
    "to {last:.2f} after the last layer. At the end {embedding} of it comes from the embedding, "
    "{attention} from attention and {mlp} from the feed-forward layers. All numbers are means over "
    "the tokens."
)
