"""All that the chapter "What changed since 2017" says. Names in braces: live numbers."""

TITLE = "One change at a time"
TEXT = (
    "The transformer was published in 2017. Most of it is still in use, but some parts were "
    "replaced. Here are ten small models that were trained alike, on the same {tokens:,} tokens in "
    "the same order. They have the same number of parameters, to within 2 %. Each differs from "
    "another one in a single change. Choose a change to see what it does on your text."
)
CHANGE = "Change"
CHANGES = {
    "place": "Post- → pre-norm",
    "kind": "Layer → RMSNorm",
    "positions": "Waves → rotary",
    "activation": "GELU → SwiGLU",
    "heads": "Shared keys",
    "experts": "Experts",
    "window": "Window",
}
# What the models of a change are called in its pictures, in the order of the study.
SIDES = {
    "place": ("post-norm", "pre-norm"),
    "kind": ("layer norm", "RMSNorm"),
    "positions": ("waves", "learned positions", "rotary positions"),
    "activation": ("GELU", "SwiGLU"),
    "heads": ("four heads of keys", "two heads of keys", "one head of keys"),
    "experts": ("one feed-forward", "four experts"),
    "window": ("no window", "a window of 16"),
}
ABOUT = {
    "place": (
        "In 2017 a norm stood after each addition, so it changed the stream itself "
        "([[post-norm]]). In GPT-2 the norms stand before attention and before the feed-forward "
        "network. These two read a normalised copy, and the stream itself is only added to "
        "([[pre-norm]]). Deep stacks can then be trained without a slow warm-up of the learning "
        "rate."
    ),
    "kind": (
        "Layer norm subtracts the mean of each vector and divides by its standard deviation. "
        "[[RMSNorm]] does not subtract the mean. It only divides by the root mean square, and it "
        "has no learned shift."
    ),
    "positions": (
        "For attention by itself, the tokens that it sees have no order. In 2017 fixed waves were "
        "added to the embeddings. GPT-2 adds a learned vector for each position. Many models today "
        "use [[rotary positions]]: nothing is added, but queries and keys are turned by angles "
        "that grow with the position."
    ),
    "activation": (
        "The feed-forward network makes each vector wider, applies an activation function and "
        "brings the vector back to its width. GELU is applied to each number by itself. [[SwiGLU]] "
        "applies SiLU and multiplies the result by a second number, from a matrix of its own. The "
        "first number is called the gate."
    ),
    "heads": (
        "To write a token, a model reads the keys and values of all earlier tokens from its cache. "
        "With [[grouped-query attention]] several heads share one key and one value, so the cache "
        "is smaller. With multi-query attention all heads share them."
    ),
    "experts": (
        "With a [[mixture of experts]] a layer has several feed-forward networks. A small router "
        "sends each token to some of them, here to two of four. So a token uses only a part of the "
        "model's parameters. Here the model has about as many parameters as the others, so each "
        "token uses fewer than in those."
    ),
    "window": (
        "With a [[sliding window]] a token looks only at the last few tokens. Information from "
        "farther back can reach it only step by step, over several layers. The cache need not hold "
        "more tokens than the window."
    ),
}
SWITCH = "In the code: {switches}, in place of {before}."
MISSING = (
    "The models of this chapter are not all in this copy of the app; {name} is missing. This "
    "command makes it:"
)
COMMAND = "python -m llmviz checkpoints make {name}"

POINTS_AXIS = "additions to the stream so far"
SIZE_AXIS = "size of the numbers (root mean square)"
PLACE_READ = (
    "With post-norm, each norm changes the stream itself: after the norms the size of its numbers "
    "lies between {low:.2f} and {high:.2f}. With pre-norm, no norm changes the stream: the size "
    "goes from {first:.2f} to {last:.2f}. All sizes are means over {tokens}."
)
NORM_ROWS = ("{side}: mean before", "{side}: mean after", "{side}: size after")
NORM_GRID = "what the final norm of both models does to each token"
NORM_READ = (
    "This is the final norm of both models, without its learned scale and shift. After layer norm "
    "the mean of every token's vector is 0. After RMSNorm it can differ from 0, here by up to "
    "{most:.2f}. The size, that is the root mean square, is about 1 after both."
)
NUMBER_AXIS, PAIR_AXIS, PLACE_AXIS = "number", "pair of numbers", "position"
POSITION_TITLES = (
    "waves, added",
    "learned, added",
    "rotary: cosine of the angle",
)
POSITIONS_READ = (
    "Waves and learned vectors are added once, before the first layer: a row of {width} numbers "
    "for each position of your text, here {tokens}. Rotary positions turn pairs of numbers in "
    "every query and key. From one token to the next, the first pair turns by {fast:.0f} radian "
    "and the last pair by {slow:.5f}. For the score it then only matters how far apart the query "
    "and the key are, not at which positions they are."
)
BENT_AXES = ("before the activation", "after it")
POINTS = "numbers of your text"
CURVES = ("GELU", "SiLU")
CLOUD_NOTE = (
    "First layer. If there are more than {most} numbers, {most} of them are drawn, evenly spaced."
)
ACTIVATION_READ = (
    "GELU has one input: every number of your text lies on its curve. SwiGLU has two: the SiLU of "
    "the first is multiplied by the second. So two points with equal first numbers can have "
    "different results. The curve shows the results if the second number is always 1."
)
KEY_ROW = "{side}: {heads}"
ONE_HEAD, MORE_HEADS = "head {heads}", "heads {heads}"
KEY_NOTE = "the key is {value:.2f} long"
KEYS_GRID = "how long each key of the first layer is"
KEYS_SCALE = ("0", "{most:.1f} long")
KEYS_READ = (
    "Each row is one head of keys in the first layer, with the heads of queries that use it. Each "
    "cell is one key in the cache. A text of {tokens} has {counts} keys in this layer."
)
EXPERT_ROW = "layer {layer}: expert {expert}"
EXPERT_NOTE = "{share} of the token's output"
EXPERT_NOTHING = "the token is not sent there"
EXPERTS_GRID = "which experts each token is sent to, and how much each counts"
EXPERTS_SCALE = ("0 %", "100 %")
EXPERTS_READ = (
    "Each column of a layer adds up to 100 %. {layers} The router learned its choices together "
    "with the other weights. Training only prevented it from sending nearly all tokens to the same "
    "experts."
)
EXPERTS_LAYER = "Of {tokens}, the experts of layer {layer} get {counts}, in this order."
LOOKED_AXIS = ""
WINDOW_READ = (
    "The picture has the attention weights of the last layer, as means over its heads. Each row is "
    "a token that looks at the columns. Full colour is a weight of 0.5 or more; grey cells are "
    "closed by the mask. Of the {seen} pairs that the causal mask allows, the window closes "
    "{closed}: those that are {window} or more places apart."
)
WINDOW_LONGER = (
    "Your text has {own}. The model without a window continued it to {all}, so that some tokens "
    "lie outside the window."
)

ASK = "What did {after} do to the loss of these models, compared with {before}?"
ANSWERS = (
    "lower by more than 0.01 nats a token",
    "no more than 0.01 nats a token apart",
    "higher by more than 0.01 nats a token",
)
ASK_REASON = "It went from {before:.3f} to {after:.3f} nats over the floor: {difference}."
RESULT = "{after}: **{over:.3f}** nats over the floor, {difference} than {before}. {verdict}"
LESS, MORE, EQUAL = "{by:.3f} less", "{by:.3f} more", "no more and no less"
VERDICTS = ("Here it helped.", "Too little to tell.", "Here it did not help.")
CACHE_LESS = "Its cache needs {part} of the bytes for a text of {tokens} tokens."
ONE_RUN = (
    "Each model was trained once, with one seed. It was not measured how much two runs of the same "
    "model differ, so differences of a hundredth say little. And a change that helps a small model "
    "on simple stories need not help a large one."
)
TABLE_TITLE = "All ten side by side"
TABLE_TEXT = (
    "The floor is the loss of the rules that wrote the stories, on the same text: {floor:.3f} nats "
    "per token. Over very many stories no model has a lower loss than these rules."
)
COLUMNS = (
    "model",
    "in place of",
    "in the code",
    "over the floor",
    "difference",
    "parameters",
    "KV per token",
    "KV of {tokens}",
)
MODELS = {
    "post-norm": "post-norm",
    "pre-norm": "pre-norm",
    "rms-norm": "RMSNorm",
    "learned": "learned positions",
    "rotary": "rotary positions",
    "swiglu": "SwiGLU",
    "grouped-query": "grouped queries",
    "multi-query": "multi-query",
    "experts": "experts",
    "window": "sliding window",
}
TABLE_NOTE = (
    "Where a change removes parameters, hidden_size is larger to make up for them. Experts are "
    "smaller, so that all four together have as many parameters as one network. KV: bytes of keys "
    "and values in float32, of one token and of {tokens}."
)

TIMES_TITLE = "How long a step takes"
TIMES_TEXT = (
    "The models cannot be compared by the seconds of their trainings, because the machine also did "
    "other work then. So a step is measured here and now. All ten models train in turns, each on "
    "its batch, on one thread. The shortest step of each counts."
)
MEASURE = "Measure a step of each model"
STOP = "Stop"
MEASURED_ROUNDS = "{done} of {rounds} rounds …"
TIMES_WAIT = "Waiting for {before} …"
NOT_MEASURED = "The steps could not be measured: {problem}"
TIMES_READ = "{after}: a step takes **{ratio:.2f} times** as long as with {before}."
TIMES_NOTE = (
    "The times are processor times, for this work alone. A second measurement can differ by some "
    "hundredths, so a ratio near 1 means that both take about equally long. Larger models and "
    "other machines can have other ratios."
)
TIMES_COLUMNS = ["model", "in place of", "milliseconds per step", "times as long"]
