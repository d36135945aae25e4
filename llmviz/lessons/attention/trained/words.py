"""The words of chapter "A trained model"."""

TITLE = "Every head at once"
TEXT = (
    "Each tile shows the weights of one head on your text. The tiles of a [[layer]] stand side by "
    "side, one for each [[head]]. Inside a tile, each row is a token that asks, and each column is "
    "a token that is asked. Point at a tile to enlarge it. Click the tile to see its weights as "
    "lines below."
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
    "These are shares of weight on this text. Each is a mean over the rows for which it is "
    "defined. [[induction|Induction]] is the weight on the token that followed the same token "
    "earlier. It needs a text in which tokens repeat."
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
    "previous": "Most weight on the token before: {head}, with {share}.",
    "induction": "Most weight on what followed the same token earlier: {head}, with {share}.",
    "first": "Most weight on the first token: {head}, with {share}.",
}
SUMMARY_NO_REPEAT = (
    "No token of this text is repeated with another token between, so induction cannot be measured "
    "here. Repeat a word."
)
ASK_LOOK = (
    "In {head}, which token gets the largest weight from {asking}, token {place}? The head's tile "
    "above is covered until you answer."
)
COVERED = "covered until the question below is answered"
ASK_LOOK_RIGHT = "{asked} gets {share}, more than any other token."
ASK_LOOK_WRONG = "{asked} gets {share}."
