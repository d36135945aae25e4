"""What the chapter on context says."""

TITLE = "The same word in two sentences"
TEXT = (
    "In the table, a word always has the same row, whatever the words around it are. Such vectors "
    "are called *static*. The vectors of word2vec and GloVe are static, too. After the table come "
    "the layers. In a GPT, [[attention]] takes information from the earlier words and adds it to "
    "the vector of a word. The result is a *contextual* vector: it depends on the context. ELMo "
    "and BERT (2018) and every GPT compute such vectors. Follow one word through two sentences and "
    "compare its two vectors."
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
CLICK = "The marked tokens are compared. Click another token to follow that token instead."
NO_LAYERS = (
    "{name} has a table of vectors. But this chapter can only show the layers of a GPT. Choose a "
    "GPT above."
)
NOT_THERE = (
    "The word {word} is not in the {which} sentence. Click a token of this sentence, or change one "
    "of the sentences."
)
TOO_LONG = "The {which} sentence has {count:,} tokens; {name} reads {most:,} at most."
EMPTY = "The {which} sentence is empty. Type one."
PIECES = (
    "{word} is cut into {count}. We follow the last of them, because it can attend to the others."
)
OTHER_TOKEN = "These are two different tokens, {a} and {b}. Their rows differ from the start."

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

SAY_START = "Both tokens begin with the same row, so the cosine is {row}."
SAY_PLACE = (
    "The first token is at place {a}, the second at place {b}. When the vectors of these places "
    "are added, the cosine becomes {place}."
)
SAY_SAME_PLACE = (
    "Both tokens are at place {a}, so the same vector of the place is added to both. Then the "
    "cosine is {place}."
)
SAY_NOTHING_ADDED = (
    "This model adds no vector for the place. If it uses places, it does so inside attention."
)
SAY_FALL = "The cosine falls most at **{stage}**: from {before} to {after}. At the end it is {end}."
SAY_KEPT = "No step lowers the cosine by 0.01 or more. At the end it is {end}."
SAY_OTHERS = (
    "The grey curve is the mean over all pairs of different tokens, one from each sentence. If it "
    "is clearly above 0, even the vectors of different tokens share a direction at this step."
)
SAY_NEXT = (
    "From the last vector of a token the model predicts the next token. After {a} in the first "
    "sentence, the most probable token is {next_a} ({share_a}). After {b} in the second, it is "
    "{next_b} ({share_b})."
)

MATRIX_TITLE = "All numbers, step by step"
MATRIX_TEXT = (
    "Each step has a row of {width} numbers, brought to length 1. In the product, a row adds up to "
    "the cosine of that step. Where the rows of both sentences have the same colours, the two "
    "vectors point the same way."
)
A, B, PRODUCT = "first", "second", "first × second"
UNIT = "length 1"
ADDS_UP = "each row adds up to the cosine"

MOVED_TITLE = "Which head differs most"
MOVED = (
    "Of all attention steps, the one in **layer {layer}** lowers the cosine most, from {before} to "
    "{after}."
)
MOVED_NOWHERE = (
    "No attention step lowers the cosine by 0.01 or more. Look at the one in **layer {layer}**: no "
    "other attention step lowers the cosine more or raises it less. Here it goes from {before} to "
    "{after}."
)
HEAD_APART = (
    "In that step, every head adds one vector to each token. The two vectors of head {head} differ "
    "most: their distance is {apart:.1f}. The largest attention weight of this head is {share_a} "
    "on {from_a} in the first sentence and {share_b} on {from_b} in the second."
)
HEADS_ALIKE = "In that step, every head adds nearly the same vector to both tokens."
OPEN = ("See this head on the first sentence", "See this head on the second sentence")

ASK = "After which of these steps are the two vectors least alike?"
ASK_REASON = "After this step the cosine is {cosine}."
