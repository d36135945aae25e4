"""The words of chapter "Why"."""

TITLE = "A whole sentence in one vector?"
TEXT = (
    "A simple recurrent network (RNN) reads a text token by token and keeps **one** vector, its "
    "hidden state. Each token changes it. All that the network can use later is in that vector. "
    "With attention, a model keeps a vector for **every** token, and a later token can look back "
    "at each of them."
)
NAME = "A name, letter by letter"
READ = (
    "The name has {count} letters. Swap the first letter, and the one vector of the recurrent "
    "network changes by {rnn_first:.0%} of its length. Swap the last, and it changes by "
    "{rnn_last:.0%}. The transformer keeps a vector for each letter. For every letter that is "
    "swapped, one of these vectors changes by {gpt_least:.0%} or more. All figures are means over "
    "the 25 swaps of a letter."
)
ASK = (
    "Swap the **last** letter, and the one vector of the recurrent network changes by {last} of "
    "its length. Swap the **first** of the {count} letters instead: by how much does the same "
    "vector change?"
)
ASK_RIGHT = (
    "{share}, less than for the last letter. Every letter that comes after the first changes the "
    "same vector again."
)
ASK_MORE = (
    "{share}: in this name, a swap of the first letter changes the vector no less than a swap of "
    "the last."
)
ASK_EVEN = "{share} would be the change for the last letter, divided by {count}."
ASK_HALF = "{share} would be half of the change for the last letter."
ASK_ALIKE = "{share} would mean that the first letter counts as much as the last."
COVERED = "The other grey bars are covered until you answer."
AXIS = "change in what is kept"
LETTER_AXIS = "letter that is swapped"
RNN = "one hidden state (RNN)"
GPT = "a vector for each letter (transformer)"
INFLUENCE = (
    "Each letter is swapped for each of the 25 others. A bar is the mean of these 25 changes of a "
    "vector, each divided by the vector's length. The RNN keeps one vector, its last hidden state. "
    "The transformer keeps one for each letter, here those after its first layer. Of these, the "
    "one that changes most counts."
)
TABLE = "Trained on the same names, with the same batches:"
COLUMNS = {"name": "model", "parameters": "parameters", "loss": "validation loss (nats)"}
GAP = "Models for this comparison are missing in this copy ({names})."
FIGURE_TITLE = "What is left of each letter at the end of the name"
TRANSLATORS = "One vector for a whole sentence"
TRANSLATORS_TEXT = (
    "Here are two translators that this project trained on the same sentences. The first is "
    "recurrent. Its **encoder** reads the English sentence word by word. Only the **last hidden "
    "state** of the encoder, one vector, goes to the **decoder**, which writes the translation. "
    "The second has **cross-attention**. It keeps a vector of the same size for every word, and "
    "looks back at all of them for each word that it writes."
)
RULES = "By the rules of Tavin, the invented language, the translation is {text}."
BY_ONE_VECTOR = "Through one vector: {text}"
BY_LOOKING_BACK = "Looking back: {text}"
EXACT = "(right)"
NOT_EXACT = "(not right)"
TRANSLATOR_NAMES = ("one vector (recurrent)", "looks back (attention)")
EXACT_TITLE = "Sentences translated without a mistake, by length"
EXACT_AXIS = "share without a mistake"
LENGTH_AXIS = "words in the English sentence"
EXACT_CAPTION = (
    "Neither model was trained on these sentences. Number of sentences × words in each: {listed}."
)
EXACT_READ = (
    "The model with one vector translates {one_short} of the sentences of up to {middle} words "
    "without a mistake, and {one_long} of the longer ones. The model that looks back: {back_short} "
    "and {back_long}. They differ in size, too: {one_size:,} parameters and {back_size:,}. The "
    "first has one vector for any sentence; the second has one for each word of it."
)
CODE_TRANSLATOR = "Show the code of the translator with one vector"
