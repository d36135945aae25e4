"""What the chapter on the table of vectors says."""

TITLE = "Reading a token is taking a row"
TEXT = (
    "The model keeps a table, the embedding matrix: a row of numbers for every token of its "
    "[[vocabulary]]. A [[token id]] says which row. That row is the [[embedding]] of the token. It "
    "is all that the rest of the model sees of the token."
)
WORD = "Word, or #id"
TEXT_ROW = "your text"
CLICK = "Click a token of your text, or a row of the table."

PICTURE = {
    "name": "the whole table",
    "close": "close-up of the rows around the chosen one",
    "hint": "Point at a row; click to choose it.",
    "row": "is row {row}: {columns} numbers.",
    "cell": "row {row}, number {column}:",
    "clipped": "One number in 20 is larger and has the full colour.",
    "all": "One dot for each number, token after token, in columns like those of a newspaper.",
    "some": "This screen is small: one number in {every} has a dot. The close-up has them all.",
}
WHOLE = "**All of {name}'s table: {rows:,} tokens × {columns} numbers = {numbers:,}.**"
WHOLE_ROW = (
    "{label} is row {row:,}, the bright line. The close-up shows it with the rows of the ids next "
    "to it."
)
WHOLE_TICKS = "Yellow ticks are the tokens of your text."

ONE_TITLE = "The same as a multiplication"
ONE_TEXT = (
    "On paper, taking a row is a matrix product. A vector of {rows:,} numbers is 0 everywhere, but "
    "1 at place {row:,} ([[one-hot]]). It is multiplied by the table. Click a cell of the result: "
    "every row but one is multiplied by 0."
)
ONE_LEFT = (
    "The picture shows the places next to the 1. At the {left:,} others there are zeros as well."
)
ONE_COST = (
    "In full, that is {all:,} multiplications, and {zero:,} of them are by 0. The largest "
    "difference between product and row is {difference:g}. So a program does not multiply: it "
    "takes the row."
)
COLUMN = "First of the numbers drawn"
HOT, TABLE, ROW = "one-hot", "table", "embedding"
HOT_FORMULA = "place {first:,} to {last:,} of {rows:,}"
TABLE_FORMULA = "rows {first:,} to {last:,}, numbers {left} to {right}"
ROW_FORMULA = "one-hot × table = row {row:,}"

IDS_TITLE = "The id means nothing"
IDS_TEXT = (
    "How alike are two rows? One measure is their [[cosine similarity|cosine]]: multiply them "
    "number by number, add the products up, and divide by the lengths of both rows. It is 1 if two "
    "rows point the same way, 0 if they are at right angles, and −1 if they point in opposite "
    "ways. The next chapter works one out number by number."
)
IDS_PICTURE = (
    "Each dot is a token. To the right: how far its id is from the id of {word}. Upwards: the "
    "cosine of its row with that of {word}. If near ids had alike rows, the dots near the left "
    "edge would be high."
)
OTHER = "Compare with"
DEAL = "Deal new ids"
UNDEAL = "The model's own ids"
DOTS = {
    "name": "ids against cosines, a dot for every token",
    "hint": (
        "Green: the nearest rows. Orange: the next id. Yellow: the word compared with. Point at a "
        "dot to see its token; click to compare with it."
    ),
    "dot": "{x} ids away, cosine {y}",
}
GAP_AXIS = "distance of the ids from {word}"
COSINE_AXIS = "cosine with {word}"
IDS_PAIR = (
    "{word} has id {i:,} and {other} has {j:,}: **{gap:,} apart**. Their rows have a cosine of "
    "**{cosine}** and lie {distance:.2f} apart. An id right beside that of {word}, {k:,}, is "
    "{next}: cosine **{next_cosine}**, {next_distance:.2f} apart."
)
IDS_CORRELATION = (
    "How far the ids of {count:,} tokens are from this one, and how high their cosines are: the "
    "correlation is {r}. At −1, the nearer the id, the higher the cosine would be; at 0 there is "
    "no such rule."
)
IDS_ORDER = {
    "bpe": (
        "It need not be 0, because the ids were not given at random: first come the 256 bytes, "
        "then the tokens in the order in which the merges made them. Deal new ids: that order is "
        "gone, and not one cosine has changed."
    ),
    "tiktoken": (
        "It need not be 0, because the ids were not given at random: this tokenizer numbers most "
        "of its tokens in the order in which it learned them. Deal new ids: that order is gone, "
        "and not one cosine has changed."
    ),
    "word": (
        "It need not be 0: these ids follow the alphabet. Words that begin with a capital stand "
        "together there, and so do words that begin alike."
    ),
    "char": (
        "It need not be 0: these ids follow the character codes. There digits stand together, "
        "capitals stand together, and so do small letters."
    ),
}
IDS_ORDER["published"] = IDS_ORDER["tiktoken"]
IDS_FLAT = (
    "{count:,} tokens have rows that point nearly the same way: their cosine with each other is "
    "{alike} on average. Nine in ten of their dots lie between {low} and {high}. Point at some to "
    "see which tokens they are."
)
IDS_DEALT = (
    "These ids were dealt at random (deal {deal}). Each token kept its row, so all cosines are "
    "what they were, and the model would write the same texts."
)

ASK = "Which of these tokens has the row most like that of {word}?"
ASK_ANSWER = "{token} (id {id:,})"
ASK_WHY = "{token} has id {id:,} ({gap:,} away) and a cosine of {cosine}."
ASK_RIGHT = "Ids play no part in a cosine: it is computed from the two rows alone."

DOWNLOAD_TITLE = "Download the table"
DOWNLOAD_TEXT = (
    "{rows:,} rows × {columns} numbers, in the fewest digits that give back the same value. The "
    "two TSV files are what TensorFlow's embedding projector reads."
)
CSV, TSV, LABELS = "Vectors as CSV", "Vectors as TSV", "Labels as TSV"
