"""What the chapter on context says."""

TITLE = "The same word in two sentences"
TEXT = (
    "The table gives a word one row, whatever stands around it. Such vectors, word2vec's and "
    "GloVe's too, are called *static*. Then the layers follow: [[attention]] adds to the word's "
    "vector what it reads from the words before it. The result is a *contextual* vector, another "
    "one for every place where the word stands; ELMo and BERT (2018) and every GPT make such "
    "vectors. Follow one word through two sentences and watch its two vectors separate."
)
EXAMPLES = {
    "The cow, the cat": (
        "The",
        "Otto saw a tame cow. The cow mooed.",
        "Otto saw a tame cat. The cat meowed.",
    ),
    "How big was, where was": (
        "was",
        "Otto found a small red book. How big was the book?",
        "Otto went to the market. And where was Otto?",
    ),
    "Light": (
        "light",
        "Diego thought the tent was heavy, but it was light.",
        "Diego thought the tent was light, but it was heavy.",
    ),
    "It and it": (
        "It",
        "How big was the book? It was small.",
        "What colour was the book? It was red.",
    ),
}
EXAMPLES_LABEL = "Examples"
WORD = "Word"
SENTENCES = ("First sentence", "Second sentence")
ROW = ("first", "second")
CLICK = "The marked tokens are compared. Click another one to follow that instead."
NO_LAYERS = (
    "{name} has a table of vectors, but this chapter opens the layers of a GPT only. Choose a GPT "
    "above to see layers at work."
)
NOT_THERE = "The word {word} is not in the {which} sentence. Click a token there, or change one."
TOO_LONG = "The {which} sentence has {count:,} tokens; {name} reads {most:,} at most."
EMPTY = "The {which} sentence is empty. Type one."
PIECES = "{word} is cut into {count}; the last one is followed, which attends to the others."
OTHER_TOKEN = "These are two different tokens, {a} and {b}: their rows differ from the start."

STAGES = {
    "token": "row",
    "position": "+ place",
    "attention": "attention {layer}",
    "mlp": "MLP {layer}",
}
STAGE_NAMES = {
    "token": "the row of the table",
    "position": "adding the place in the text",
    "attention": "attention in layer {layer}",
    "mlp": "the MLP of layer {layer}",
}
SAME = "the word with itself"
OTHERS = "all pairs of different tokens, on average"
COSINE_AXIS = "cosine of the two"
STAGE_AXIS = "after this step"

SAY_START = "Both begin with the same row: cosine {row}."
SAY_PLACE = (
    "The first stands at place {a}, the second at place {b}; adding the vectors of those places "
    "takes the cosine to {place}."
)
SAY_SAME_PLACE = "Both stand at place {a}, so the same vector of the place is added: {place} still."
SAY_NOTHING_ADDED = (
    "This model adds no vector for the place: if it knows places at all, attention gets to know "
    "them inside the layers."
)
SAY_FALL = "The largest fall is at **{stage}**: from {before} to {after}. At the end it is {end}."
SAY_KEPT = "No step lowers it; at the end it is {end}."
SAY_OTHERS = (
    "The grey curve is the mean of all pairs of different tokens, one from each sentence. Where it "
    "is above 0, the vectors of this step share a direction whatever their token is."
)
SAY_NEXT = (
    "A token's vector has a task: to tell what comes next. After {a} in the first sentence the "
    "model expects {next_a} ({share_a}), after {b} in the second {next_b} ({share_b})."
)

MATRIX_TITLE = "All numbers, step by step"
MATRIX_TEXT = (
    "A row for each step, {width} numbers each, brought to length 1. In the product, a row adds up "
    "to the cosine of that step. Where both sentences have the same stripes, the two vectors are "
    "still the same."
)
A, B, PRODUCT = "first", "second", "first × second"
UNIT = "length 1"
ADDS_UP = "each row adds up to the cosine"

MOVED_TITLE = "Which head moved it"
MOVED = (
    "Of all the attention steps, that of **layer {layer}** lowers the cosine most, from {before} "
    "to {after}."
)
MOVED_NOWHERE = (
    "No attention step lowers the cosine. That of **layer {layer}** comes nearest to it: from "
    "{before} to {after}."
)
HEAD_APART = (
    "There, head {head} wrote the most different vectors into the two tokens, {apart:.1f} apart. "
    "Its largest attention weight is {share_a} on {from_a} in the first sentence and {share_b} on "
    "{from_b} in the second."
)
HEADS_ALIKE = "There, every head wrote the same vector into both tokens."
OPEN = ("See this head on the first sentence", "See this head on the second sentence")

ASK = "After which of these steps are the two vectors least alike?"
ASK_REASON = "After it the cosine is {cosine}."
