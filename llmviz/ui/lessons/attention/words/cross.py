"""The words of the translation, in chapter "A trained model"."""

TITLE = "Across two languages"
TEXT = (
    "In a translation, queries come from the [[decoder]], the sentence being written; keys and "
    "values come from the [[encoder]], the sentence that was read. This model turns English into "
    "Tavin, a language made by rule for this app, in which adjectives follow their noun and the "
    "verb comes last: so who belongs to whom is known exactly, and marked with dots."
)
LABEL = "English sentence"
REFUSED = "This grammar does not know the sentence: {rule}. Try: {example}"
RIGHT = "The model writes `{said}`, which is right word for word."
WRONG = "The model writes `{said}`; by the rules it would be `{known}`."
LONG = "The sentence has {count} tokens; the model's context is {limit}."
NOTE = "aligned {share}"
READ = (
    "{head} puts {share} of its weight on the right word, on average over the {count} words; an "
    "even spread would put {even} there."
)
END = "⟨end⟩"
