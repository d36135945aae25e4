"""The words of chapter "Cross-attention"."""

TITLE = "Across two languages"
TEXT = (
    "In a translation model, queries come from the [[decoder]], which writes the translation. Keys "
    "and values come from the [[encoder]], which has read the sentence. This model translates "
    "English into Tavin, a language invented for this app. In Tavin, adjectives follow their noun "
    "and the verb comes last. The translation follows fixed rules, so it is known which English "
    "word each word comes from. If the model's translation is right, dots mark these words."
)
RIGHT = "The model writes `{written}`. Every word is right."
WRONG = "The model writes `{written}`. By the rules it would be `{known}`."
NOTE = "aligned {share}"
READ = (
    "On average over the {count} words, {head} puts {share} of its weight on the right word. If "
    "the weights were equal, it would be {even}."
)
END = "⟨end⟩"

CELLS = "One of these heads, number by number"
CELLS_TEXT = "From the two sentences to the result of {head}. Click another head above to open it."
WRITTEN = "the vectors of the decoder"
READ_FORMULA = "output of the encoder"
STEPS = {
    "sides": (
        "There are two sequences. Y has a row for each of the {asking} tokens that are written. E "
        "has a row for each of the {asked} tokens that were read."
    ),
    "Q": "Queries come from Y: what each written token looks for.",
    "K": "Keys come from E: what each token of the sentence can be found by.",
    "V": "Values come from E, too: what each token of the sentence gives.",
    "scores": "Every query is multiplied with every key. The table need not be square.",
    "scaled": (
        "Scores {scale}: they are divided by the root of the head's size, so that large heads do "
        "not make the softmax too sharp."
    ),
    "weights": (
        "Softmax turns each row into shares that add up to 1. Nothing is masked, because the whole "
        "sentence was read before the first word is written."
    ),
    "context": (
        "For each written token, every value of the sentence is multiplied with its share. The sum "
        "is the context."
    ),
}
