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
    "The name has {count} letters. If the first letter is replaced, the one vector of the "
    "recurrent network changes by {rnn_first:.0%} of its length. If the last letter is replaced, "
    "this vector changes by {rnn_last:.0%}. The transformer keeps a vector for each letter. "
    "Whichever letter is replaced, one of these vectors changes by {gpt_least:.0%} or more. All "
    "numbers are means over the 25 other letters."
)
ASK = (
    "If the **last** letter is replaced, the one vector of the recurrent network changes by {last} "
    "of its length. Now replace the **first** of the {count} letters instead. By how much does the "
    "same vector change?"
)
ASK_RIGHT = (
    "{share}, less than for the last letter. Every letter after the first changes the same vector "
    "again."
)
ASK_MORE = (
    "{share}. In this name, the first letter changes the vector no less than the last letter does."
)
ASK_EVEN = "{share} would be the change for the last letter, divided by {count}."
ASK_HALF = "{share} would be half of the change for the last letter."
ASK_ALIKE = "{share} would mean that the first letter counts as much as the last."
COVERED = "The other grey bars are covered until you answer."
AXIS = "change in what is kept"
LETTER_AXIS = "letter that is replaced"
RNN = "one hidden state (RNN)"
GPT = "a vector for each letter (transformer)"
INFLUENCE = (
    "Each letter is replaced by each of the 25 others. A bar is the mean of these 25 changes of a "
    "vector, each divided by the vector's length. The RNN keeps one vector, its last hidden state. "
    "The transformer keeps a vector for each letter, here the vectors after its first layer. For "
    "each replacement, the vector that changes most is taken."
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
BY_ONE_VECTOR = "With one vector: {text}"
BY_LOOKING_BACK = "With attention: {text}"
EXACT = "(right)"
NOT_EXACT = "(not right)"
TRANSLATOR_NAMES = ("one vector (recurrent)", "attention")
EXACT_TITLE = "Sentences translated without a mistake, by length"
EXACT_AXIS = "share without a mistake"
LENGTH_AXIS = "words in the English sentence"
EXACT_CAPTION = (
    "Neither model was trained on these sentences. Number of sentences × words in each: {listed}."
)
EXACT_READ = (
    "The model with one vector translates {one_short} of the sentences of up to {middle} words "
    "without a mistake, and {one_long} of the longer ones. For the model with attention it is "
    "{back_short} and {back_long}. The models also differ in size: {one_size:,} parameters and "
    "{back_size:,}. The first has one vector for a whole sentence. The second has one vector for "
    "each word."
)
CODE_TRANSLATOR = "Show the code of the translator with one vector"
