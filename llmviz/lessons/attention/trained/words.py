"""The words of chapter "A trained model"."""

TITLE = "Every head at once"
TEXT = (
    "Rows are [[layer|layers]], columns are [[head|heads]]; each tile is one head's weights on "
    "your text: each row is a token that asks, each column a token that is asked. Point at a tile "
    "to enlarge it, click it to see its weights as lines below."
)
WRITE_ONE = "Write a token"
WRITE_TEN = "Write ten"
WRITE_NONE = "Only my text"
WRITTEN = "The model has written {count}: {text}"
WRITE_FULL = "The context of {limit:,} tokens is full."
WRITE_ENDED = "The model has ended its text."
NOTE_HEAD = "previous {previous} · itself {itself} · first {first} · entropy {entropy:.2f}"
SUMMARY_TITLE = "What the heads do, measured"
SUMMARY_TEXT = (
    "Shares of weight on this text, averaged over the rows for which they are defined. "
    "[[induction|Induction]] is the weight on what followed the same token earlier; it needs a "
    "text that repeats itself."
)
SUMMARY_COLUMNS = {
    "layer": "layer",
    "head": "head",
    "previous": "token before",
    "itself": "itself",
    "first": "first token",
    "repeat": "same token earlier",
    "induction": "what followed it",
    "entropy": "entropy (nats)",
}
SUMMARY_READ = {
    "previous": "The head with the most weight on the token before is {head}, with {share}.",
    "induction": (
        "The head with the most weight on what followed the same token earlier is {head}, with "
        "{share}."
    ),
    "first": "The head with the most weight on the first token is {head}, with {share}.",
}
SUMMARY_NO_REPEAT = (
    "No token of this text comes twice with another one between, so induction cannot be measured "
    "here. Repeat a word."
)
ASK_LOOK = (
    "In {head}, which token gets the largest weight from {who}, token {place}? The head's tile "
    "above is covered until you answer."
)
COVERED = "covered until the question below is answered"
ASK_LOOK_RIGHT = "{whom} gets {share}, more than any other token."
ASK_LOOK_WRONG = "{whom} gets {share}."
