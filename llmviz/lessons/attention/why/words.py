"""The words of chapter "Why"."""

TITLE = "A whole sentence in one vector?"
TEXT = (
    "Before attention, a model read a text token by token and kept **one** vector, its hidden "
    "state. Whatever is asked later must be answered from that vector alone: what was read first "
    "has been written over again and again. Attention keeps a vector for **every** token, and "
    "looks back at all of them."
)
NAME = "A name, letter by letter"
READ = (
    "Swap the first of {count} letters, and the one vector that the recurrent network has kept at "
    "the end changes by {rnn_first:.0%} of its length; swap the last, and it changes by "
    "{rnn_last:.0%}. The transformer has kept a vector for each letter: whichever is swapped, one "
    "of them changes by {gpt_least:.0%} or more."
)
ASK = (
    "Swap the **last** letter, and the one vector of the recurrent network changes by {last} of "
    "its length. Swap the **first** of the {count} letters instead: by how much does the same "
    "vector change?"
)
ASK_RIGHT = "{share} is what {more} more letters have left of it: each wrote over the one vector."
ASK_MORE = (
    "{share}: in this name, the first letter counts no less than the last, which is an exception."
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
LOOKS = "And this is a trained model looking back, on your own text:"
DECIDED = (
    "Of all its heads, {head} looks back with the most decision: a row gives {share} on average to "
    "one token other than itself and the first."
)
LETTERS = "The letters a to z are needed; {found!r} is none."
LENGTH = "A name has 2 to 15 letters here; this one has {count}."
FIGURE_TITLE = "What is left of each letter at the end of the name"
CODE_DECIDED = "Show the code of the most decided head"
