"""All that the chapter "Token after token" says. Names in braces: live numbers."""

TITLE = "One round for each token"
TEXT = (
    "A language model writes one token at a time. Each round has the same five stages: take the "
    "last row of the [[residual stream]], give every token of the vocabulary a score, turn scores "
    "into probabilities with [[softmax]], pick a token, append it to the text. Then it begins "
    "again with a text that is one token longer. What attention needs of the earlier tokens can "
    "be kept in the [[KV cache]]. Play the rounds, or go through them with the arrow keys; all of "
    "them are computed already."
)
REUSE = "Keep keys and values"
REUSE_HELP = (
    "Where no token sees what comes after it, later tokens never change earlier keys and values. "
    "So these can be kept: that is the KV cache."
)
NO_CACHE = (
    "The tokens of this model see what comes after them, so a new token changes earlier ones. "
    "Nothing is kept here: each round computes everything again."
)
PICTURE = {
    "row": "the last row",
    "token": "token",
    "score": "score",
    "probability": "probability",
    "others": "all others",
    "layer": "layer {layer}",
    "fresh": "computed for the first time",
    "kept": "not computed: its keys and values are kept",
    "again": "computed again, with the same result",
}
ROW_NORMED = "the last row, after the final norm"
AGAIN_CHANGED = "computed again"  # where a new token changes the earlier ones
LINES = {
    "row": (
        "Round {round}. The text has {tokens}. The last one, “{last}”, has passed {layers}{norm}; "
        "its row has {width} numbers. Only this row decides what comes next."
    ),
    "scores": (
        "The output head has a row of {width} numbers for each of the {vocab} tokens that the "
        "model knows. Multiplied with the last row, number by number, and added up, each gives a "
        "score. The {listed} highest are listed."
    ),
    "softmax": (
        "Softmax turns scores into probabilities: e to the power of the score, divided by the sum "
        "of that over all {vocab} tokens."
    ),
    "pick": (
        "The most probable token is picked: “{pick}”, with {share}. It could also be drawn at "
        "random; the lesson on sampling is about that."
    ),
    "append": "“{pick}” is appended. The text now has {more}, and the next round begins.",
}
FINAL_NORM = " and the final norm"
LAST = "“{pick}” is appended. The text now has {more}. {end}"
END_STOP = "With this token the model says that the text ends."
END_FULL = "The context is full: the model cannot read a longer text at once."
END_SHOWN = "The picture ends here; the model could go on."
WORK_FIRST = "Round 1 computes {now} in each layer."
WORK_KEPT = "Round {round} computes {now} in each layer; rounds 1 to {round} computed {sum}."
WORK_AGAIN = (
    "Round {round} computes {now} in each layer, {again} of them again; rounds 1 to "
    "{round} computed {sum}."
)
ASK = (
    "Your text has {tokens}, and 10 more are to be written without a cache. The context is long "
    "enough for all of them. How many vectors does one layer compute in all 10 rounds?"
)
ASK_RIGHT = (
    "Round 1 computes {tokens}, and each round after it one more than the round before: "
    "10 × {n} + (1 + 2 + … + 9) = {right:,}."
)
ASK_WRONG = {
    "cached": "That is with a cache: {n} in round 1, then one in each of 9 rounds.",
    "same": "That is 10 × {n}. But the text grows by a token with every round.",
    "last": "That is 10 × ({n} + 10), as if each round had the full text already.",
    "new": "Those are the new rows alone. Without a cache the old ones are computed too.",
}
SUM = (
    "The text of {tokens} and its {rounds}: each layer computes {cached:,} vectors with the cache "
    "and {plain:,} without it. Both give the same tokens."
)
SUM_NO_CACHE = (
    "The text of {tokens} and its {rounds}: each layer computes {plain:,} vectors. A cache would "
    "need a model whose tokens see only what came before."
)

COST_TITLE = "Time and memory as the text grows"
COST_TEXT = (
    "Without a cache a round reads the whole text; with it, the last token alone. Time that is "
    "saved is paid for in memory: every token leaves keys and values in each layer."
)
TIME = "milliseconds for the next token"
MEMORY = "KiB of keys and values"
LENGTH = "tokens of the text"
WITHOUT, WITH = "without the cache", "with the cache"
HELD = "held in the cache"
LESS = (
    "At {n:,} tokens the next one takes {without:.2f} ms without the cache and {with_:.2f} ms with "
    "it, {ratio:.1f} times as fast."
)
SAME = (
    "At {n:,} tokens the next one takes {without:.2f} ms without the cache and {with_:.2f} ms with "
    "it: about the same. The longer the text and the larger the model, the more work the cache "
    "saves."
)
MORE = (
    "At {n:,} tokens the next one takes {without:.2f} ms without the cache and {with_:.2f} ms with "
    "it: here the cache saves no time."
)
BYTES = (
    "The cache holds {held:,} bytes there, {each:,} for each token: a key and a value of {size} "
    "numbers in {heads} of each of {layers}, {width} bytes a number."
)
MEASURED = (
    "Measured on this server when the first visitor opened this model, the shortest of {tries} "
    "tries at each length{alone}; all visitors see the same numbers. The bytes are counted from "
    "the cache's own tensors."
)
ALONE = ", as time of the processor without the other work that the server does"
ASK_BYTES = "How many numbers does the cache of this model keep for each token?"
BYTES_RIGHT = (
    "A key and a value, {size} numbers each, in {heads} of each of {layers}: "
    "2 × {size} × {g} × {n_layer} = {right:,}."
)
BYTES_WRONG = {
    "one layer": "That is one layer. Every layer has keys and values of its own.",
    "keys": "Those are the keys alone. The values are needed too.",
    "row": "That is one row of the stream. The cache keeps keys and values, in each layer.",
    "all heads": "Here several heads share a key and a value, so fewer are kept.",
    "vocab": "That is the size of the vocabulary. The cache keeps keys and values, not scores.",
}
