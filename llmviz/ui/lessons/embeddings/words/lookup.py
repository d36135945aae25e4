"""What the chapter on the table of vectors says."""

TITLE = "Reading a token is taking a row"
TEXT = (
    "The model keeps one table, the embedding matrix: a row of numbers for every token of its "
    "[[vocabulary]]. A [[token id]] says which row. That row, the token's [[embedding]], is all "
    "that the rest of the model ever sees of the token."
)
WORD = "Word"
