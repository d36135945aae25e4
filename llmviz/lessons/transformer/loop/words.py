"""All that the chapter "Token after token" says. Names in braces: live numbers."""

TITLE = "One round for each token"
TEXT = (
    "A language model writes one token at a time. Each round has the same five stages. The model "
    "takes the last row of the [[residual stream]]. It gives every token of the vocabulary a "
    "score. [[softmax|Softmax]] turns the scores into probabilities. A token is picked and "
    "appended to the text. The next round begins with a text that is one token longer. Attention "
    "needs the keys and values of the earlier tokens; they can be kept in the [[KV cache]]. Play "
    "the rounds, or go through them with the arrow keys. All of them are computed already."
)
REUSE = "Keep keys and values"
REUSE_HELP = (
    "If no token sees the tokens after it, later tokens never change earlier keys and values. So "
    "these can be kept. They are called the KV cache."
)
NO_CACHE = (
    "In this model a token also sees the tokens after it, so a new token changes the vectors of "
    "earlier ones. Nothing is kept here: each round computes everything again."
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
        "model knows. Each row of the head is multiplied by the last row of the stream, number by "
        "number. The sum of the products is the token's score. The {listed} highest are listed."
    ),
    "softmax": (
        "Softmax turns scores into probabilities. Each is e to the power of the score, divided by "
        "the sum of these powers over all {vocab} tokens."
    ),
    "pick": (
        "The most probable token is picked: “{pick}”, with {share}. A token could also be drawn at "
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
    "Your text has {tokens}. Suppose that the model writes 10 more without a cache, and that its "
    "context is long enough for all of them. How many vectors does one layer compute in all 10 "
    "rounds?"
)
ASK_RIGHT = (
    "Round 1 computes {tokens}. Each later round computes one vector more than the round before. "
    "So there are 10 × {n} + (1 + 2 + … + 9) = {right:,}."
)
ASK_WRONG = {
    "cached": "That is with a cache: {n} in round 1, then one in each of 9 rounds.",
    "same": "That is 10 × {n}. But the text grows by a token with every round.",
    "last": "That is 10 × ({n} + 10), as if each round had the full text already.",
    "new": "Those are the new rows alone. Without a cache the old ones are computed too.",
}
SUM = (
    "For the text of {tokens} and its {rounds}, each layer computes {cached:,} vectors with the "
    "cache and {plain:,} without it. Both give the same tokens."
)
SUM_NO_CACHE = (
    "For the text of {tokens} and its {rounds}, each layer computes {plain:,} vectors. A cache "
    "would need a model whose tokens see only themselves and the tokens before."
)

COST_TITLE = "Time and memory as the text grows"
COST_TEXT = (
    "Without a cache, each round computes the whole text. With it, each round after the first "
    "computes the last token alone. In return, the cache needs memory: for the keys and values of "
    "every token, in each layer."
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
    "The cache holds {held:,} bytes there, {each:,} for each token. A token has a key and a value "
    "of {size} numbers in {heads} of each of {layers}. Each number takes {width} bytes."
)
MEASURED = (
    "Measured on this server when the first visitor opened this model. Each time is the shortest "
    "of {tries} tries{alone}. All visitors see the same numbers. The bytes are counted from the "
    "tensors of the cache."
)
ALONE = ", in processor time, so other work of the server does not count"
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
