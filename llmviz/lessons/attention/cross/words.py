"""The words of chapter "Cross-attention"."""

TITLE = "Across two languages"
TEXT = (
    "In a translation, queries come from the [[decoder]], the sentence being written; keys and "
    "values come from the [[encoder]], the sentence that was read. This model turns English into "
    "Tavin, a language made by rule for this app, in which adjectives follow their noun and the "
    "verb comes last: so for each word it is known which English word it comes from. Dots mark "
    "that."
)
RIGHT = "The model writes `{said}`, which is right word for word."
WRONG = "The model writes `{said}`; by the rules it would be `{known}`."
NOTE = "aligned {share}"
READ = (
    "{head} puts {share} of its weight on the right word, on average over the {count} words; an "
    "even spread would put {even} there."
)
END = "⟨end⟩"

CELLS = "One of these heads, number by number"
CELLS_TEXT = "From the two sentences to what {head} hands on. Click another head above to open it."
WRITTEN = "the sentence being written"
READ_FORMULA = "what the encoder made of the sentence read"
STEPS = {
    "sides": "Two sequences: Y has a row for each of the {asking} tokens being written, E one for "
    "each of the {asked} that were read.",
    "Q": "Queries come from Y: what each token being written looks for.",
    "K": "Keys come from E: what each token read can be found by.",
    "V": "Values come from E, too: what each of them hands over.",
    "scores": "Every query is multiplied with every key. The table need not be square.",
    "scaled": "Scores {scale}, so that large heads do not make the softmax too sharp.",
    "weights": "Softmax turns each row into shares that add up to 1. Nothing is masked: all of the "
    "sentence has been read before the first word is written.",
    "context": "Each token being written adds up the values of the sentence, each times its share.",
}
