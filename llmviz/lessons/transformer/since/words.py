"""All that the chapter "What changed since 2017" says. Names in braces: live numbers."""

TITLE = "One change at a time"
TEXT = (
    "The transformer was published in 2017. Most of it is still there, but some parts were "
    "replaced. Here are ten small models that were trained alike: the same {tokens:,} tokens in "
    "the same order, the same number of parameters to within 2 %. Each differs from another one "
    "in one change. Choose a change to see on your text what it does."
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
        "In 2017 a norm stood after each addition, so that it changed the stream itself "
        "([[post-norm]]). GPT-2 put it in front of attention and of the feed-forward: they read a "
        "normalised copy, and the stream is only added to ([[pre-norm]]). Deep stacks can then be "
        "trained without a slow warm-up of the learning rate."
    ),
    "kind": (
        "Layer norm takes the mean off each vector and divides by its standard deviation. "
        "[[RMSNorm]] takes no mean off and only divides by the root mean square: one step "
        "and one set of learned numbers fewer."
    ),
    "positions": (
        "For attention by itself, the tokens that it sees have no order. In 2017 fixed waves were "
        "added to the embeddings; GPT-2 adds a learned vector for each place; many models today "
        "use [[rotary positions]]: they add nothing and turn queries and keys by angles that grow "
        "with the place."
    ),
    "activation": (
        "The feed-forward widens each vector, bends the numbers and comes back. GELU bends each "
        "number by itself. [[SwiGLU]] bends one number and multiplies it by a second one, with a "
        "matrix of its own: a gate."
    ),
    "heads": (
        "To write a token, a model reads the keys and values of all earlier ones from its cache. "
        "With [[grouped-query attention]] several heads share one key and one value, so the cache "
        "gets smaller; with multi-query attention all of them share one."
    ),
    "experts": (
        "With a [[mixture of experts]] a layer has several feed-forward networks, and a small "
        "router sends each token to some of them, here to two of four. The model has more "
        "parameters than any token meets. Here the sum stays the same, so that each token meets "
        "fewer than in the other models."
    ),
    "window": (
        "With a [[sliding window]] a token looks at the last few tokens only. What lies farther "
        "back can reach it only step by step, over several layers. The cache needs to hold no "
        "more than the window."
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
    "With post-norm each norm replaces the stream: after the norms the size of its numbers lies "
    "between {low:.2f} and {high:.2f}. With pre-norm nothing normalises the stream: the size goes "
    "from {first:.2f} to {last:.2f}. Means over {tokens}."
)
NORM_ROWS = ("{side}: mean before", "{side}: mean after", "{side}: size after")
NORM_GRID = "what the final norm of both models does to each token"
NORM_READ = (
    "The final norm of both models, without its learned scale and shift. After layer norm the mean "
    "of every token is 0; RMSNorm leaves one, here up to {most:.2f} away from 0. The size, that is "
    "the root mean square, is about 1 after both."
)
NUMBER_AXIS, PAIR_AXIS, PLACE_AXIS = "number", "pair of numbers", "position"
POSITION_TITLES = (
    "waves, added",
    "learned, added",
    "rotary: cosine of the angle",
)
POSITIONS_READ = (
    "Waves and learned vectors are added once, before the first layer: a row of {width} numbers "
    "for each of the positions of your text, here {tokens}. Rotary positions turn pairs of numbers "
    "in every query and key: the first pair by {fast:.0f} radian from one token to the next, the "
    "last by {slow:.5f}. Of the positions of a query and a key, the score then depends only on how "
    "far apart they are."
)
BENT_AXES = ("before the activation", "after it")
POINTS = "numbers of your text"
CURVES = ("GELU", "SiLU")
CLOUD_NOTE = "First layer; of more than {most} numbers, {most} at equal distances are drawn."
ACTIVATION_READ = (
    "GELU has one input: every number of your text lies on its curve. SwiGLU has two: SiLU bends "
    "the first, and the second multiplies it. So equal numbers before can differ after it. "
    "The curve is what would come out if every second number were 1."
)
KEY_ROW = "{side}: {heads}"
ONE_HEAD, MORE_HEADS = "head {heads}", "heads {heads}"
KEY_NOTE = "the key is {value:.2f} long"
KEYS_GRID = "how long each key of the first layer is"
KEYS_SCALE = ("0", "{most:.1f} long")
KEYS_READ = (
    "Each row is one head of keys in the first layer, with the heads of queries that use it; "
    "each cell is one key that the cache holds. A text of {tokens} has {counts} keys in this layer."
)
EXPERT_ROW = "layer {layer}: expert {expert}"
EXPERT_NOTE = "{share} of the token's output"
EXPERT_NOTHING = "the token is not sent there"
EXPERTS_GRID = "which experts each token is sent to, and how much each counts"
EXPERTS_SCALE = ("0 %", "100 %")
EXPERTS_READ = (
    "Each column of a layer adds up to 100 %. {layers} What to look for the router learned with "
    "the rest; training only kept it from sending nearly all tokens to the same experts."
)
EXPERTS_LAYER = "To the experts of layer {layer} go {counts} of {tokens}, in their order."
LOOKED_AXIS = ""
WINDOW_READ = (
    "Rows look at columns: the attention weights of the last layer, mean over its heads; full "
    "colour is a weight of 0.5 or more, grey is closed by the mask. Of the {seen} pairs "
    "that the causal mask allows, the window closes {closed}: those that are {window} or more "
    "places apart."
)
WINDOW_LONGER = (
    "Your text has {own}; so that something lies outside the window, the model without one "
    "wrote on to {all}."
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
    "Each model was trained once, with one seed. How far two runs of the same model come apart was "
    "not measured, so differences of a hundredth say little; and what helps a small model on "
    "simple stories need not help a large one."
)
TABLE_TITLE = "All ten side by side"
TABLE_TEXT = (
    "The floor is what the rule that wrote the stories would lose itself on the same text: "
    "{floor:.3f} nats a token. Over very many stories no model comes below the rule's loss."
)
COLUMNS = (
    "model",
    "in place of",
    "in the code",
    "over the floor",
    "difference",
    "parameters",
    "KV a token",
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
    "Where a change takes parameters away, hidden_size is larger by as many; experts are smaller, "
    "so that all four together have as many. KV: bytes of keys and values in float32, of one token "
    "and of {tokens}."
)

TIMES_TITLE = "How long a step takes"
TIMES_TEXT = (
    "The seconds of the trainings themselves do not compare the models, as the machine did other "
    "work meanwhile. So a step is measured here and now: all ten models train in turns, each on "
    "its batch, on one thread, and the shortest step of each counts."
)
MEASURE = "Measure a step of each model"
STOP = "Stop"
MEASURED_ROUNDS = "{done} of {rounds} rounds …"
TIMES_WAIT = "Waits for {before} …"
NOT_MEASURED = "The steps could not be measured: {problem}"
TIMES_READ = "{after}: a step takes **{ratio:.2f} times** as long as with {before}."
TIMES_NOTE = (
    "The time is the processor's for this work alone. Measured again, a ratio can come out some "
    "hundredths different, so one near 1 says that both take about as long. Larger models, and "
    "other machines, can have other ratios."
)
TIMES_COLUMNS = ["model", "in place of", "milliseconds a step", "times as long"]
