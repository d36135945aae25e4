"""What the chapter on context says."""

TITLE = "The same word in two sentences"
TEXT = (
    "The table gives a word one row, whatever stands around it. Such vectors are called *static*; "
    "those of word2vec and GloVe are static, too. Then the layers follow. In a GPT, [[attention]] "
    "adds to the vector of a word what it takes from the words before it. The result is a "
    "*contextual* vector: it depends on the words around it. ELMo and BERT (2018) and every GPT "
    "have such vectors. Follow one word through two sentences and compare its two vectors."
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
PIECES = "{word} is cut into {count}. We follow the last one, which can attend to the others."
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
    "This model adds no vector for the place. If it uses places at all, then inside attention."
)
SAY_FALL = "The largest fall is at **{stage}**: from {before} to {after}. At the end it is {end}."
SAY_KEPT = "No step lowers it by a hundredth or more; at the end it is {end}."
SAY_OTHERS = (
    "The grey curve is the mean over all pairs of different tokens, one from each sentence. If it "
    "is clearly above 0, even the vectors of different tokens share a direction at this step."
)
SAY_NEXT = (
    "From the last vector of a token the model predicts the next token. After {a} in the first "
    "sentence the most probable one is {next_a} ({share_a}), after {b} in the second it is "
    "{next_b} ({share_b})."
)

MATRIX_TITLE = "All numbers, step by step"
MATRIX_TEXT = (
    "A row for each step: {width} numbers, brought to length 1. In the product, a row adds up to "
    "the cosine of that step. Where both sentences have the same stripes, the two vectors point "
    "the same way."
)
A, B, PRODUCT = "first", "second", "first × second"
UNIT = "length 1"
ADDS_UP = "each row adds up to the cosine"

MOVED_TITLE = "Which head differs most"
MOVED = (
    "Of all attention steps, that of **layer {layer}** lowers the cosine most, from {before} to "
    "{after}."
)
MOVED_NOWHERE = (
    "No attention step lowers the cosine. That of **layer {layer}** comes nearest to it: from "
    "{before} to {after}."
)
HEAD_APART = (
    "In that step, what head {head} adds to the two tokens differs most: by a distance of "
    "{apart:.1f}. Its largest attention weight is {share_a} on {from_a} in the first sentence and "
    "{share_b} on {from_b} in the second."
)
HEADS_ALIKE = "In that step, every head adds nearly the same vector to both tokens."
OPEN = ("See this head on the first sentence", "See this head on the second sentence")

ASK = "After which of these steps are the two vectors least alike?"
ASK_REASON = "After it the cosine is {cosine}."
