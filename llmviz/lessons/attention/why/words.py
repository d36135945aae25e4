"""The words of chapter "Why"."""

TITLE = "A whole sentence in one vector?"
TEXT = (
    "A recurrent network (RNN) reads a text token by token and keeps **one** vector, its hidden "
    "state, which it changes at every token. All that it can use later is in that vector. "
    "Attention keeps a vector for **every** token, and a later token can look back at each."
)
NAME = "A name, letter by letter"
READ = (
    "Swap the first of {count} letters, and the one vector that the recurrent network has kept at "
    "the end changes by {rnn_first:.0%} of its length; swap the last, and it changes by "
    "{rnn_last:.0%}. The transformer has kept a vector for each letter: for every letter of the "
    "name, one of these changes by {gpt_least:.0%} or more, on average over the swaps."
)
ASK = (
    "Swap the **last** letter, and the one vector of the recurrent network changes by {last} of "
    "its length. Swap the **first** of the {count} letters instead: by how much does the same "
    "vector change?"
)
ASK_RIGHT = (
    "{share} is what {more} more letters have left of it: each of them changed the one vector."
)
ASK_MORE = (
    "{share}: in this name, a swap of the first letter changes the vector no less than the last."
)
ASK_EVEN = "{share} would be an even part of the last letter's change, one of {count}."
ASK_HALF = "{share} would be half of what the last letter does."
ASK_ALIKE = "{share} would be a memory in which the first letter counts as much as the last."
COVERED = "The other grey bars are covered until you answer."
AXIS = "change in what is kept"
LETTER_AXIS = "letter that is swapped"
RNN = "one hidden state (RNN)"
GPT = "a vector for each letter (transformer)"
INFLUENCE = (
    "Each letter is swapped for the 25 others in turn. The bar is the mean change of the vector "
    "that changes most among those kept at the end, relative to its length: the last hidden state "
    "there, the vectors of all letters after the first layer here."
)
TABLE = "On the same names, with the same batches:"
COLUMNS = {"name": "model", "parameters": "parameters", "loss": "validation loss (nats)"}
GAP = "Models for this comparison are missing in this copy ({names})."
FIGURE_TITLE = "What is left of each letter at the end of the name"
TRANSLATORS = "One vector for a whole sentence"
TRANSLATORS_TEXT = (
    "Two translators that this project trained, on the same sentences in the same order. The first "
    "is recurrent: the **encoder** reads the English sentence word by word, only its **last hidden "
    "state**, one vector of 96 numbers, goes to the **decoder**, and that writes the translation. "
    "The second has **cross-attention**: a vector of 96 numbers for every word, and it looks back "
    "at all of them for each word that it writes."
)
RULES = "By the rules of Tavin, the invented language, the translation is {text}."
BY_ONE_VECTOR = "Through one vector: {text}"
BY_LOOKING_BACK = "Looking back: {text}"
EXACT = "(right)"
NOT_EXACT = "(not right)"
TRANSLATOR_NAMES = ("one vector (recurrent)", "looks back (attention)")
EXACT_TITLE = "Sentences translated word for word, by length"
EXACT_AXIS = "share translated exactly"
LENGTH_AXIS = "words in the English sentence"
EXACT_CAPTION = "Sentences that neither model was trained on: {listed} words."
EXACT_READ = (
    "Of the sentences of up to {middle} words, the model with one vector translates {one_short} "
    "word for word; of the longer ones, {one_long}. The model that looks back: {back_short} and "
    "{back_long}. They differ in size, too: {one_size:,} parameters and {back_size:,}. The one "
    "vector has 96 numbers for any sentence; the other model has 96 for each word of it."
)
CODE_TRANSLATOR = "Show the code of the translator with one vector"
