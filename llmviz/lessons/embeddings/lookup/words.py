"""What the chapter on the table of vectors says."""

TITLE = "Reading a token is taking a row"
TEXT = (
    "The model keeps one table, the embedding matrix: a row of numbers for every token of its "
    "[[vocabulary]]. A [[token id]] says which row. That row, the token's [[embedding]], is all "
    "that the rest of the model ever sees of the token."
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
    "all": "One dot for each number, token after token, folded into columns like a newspaper.",
    "some": "This screen is small: one number in {every} has a dot. The close-up has them all.",
}
WHOLE = "**All of {name}'s table: {rows:,} tokens × {columns} numbers = {numbers:,}.**"
WHOLE_ROW = (
    "{label} is row {row:,}, the bright line; the close-up shows it among the rows whose ids are "
    "next to it."
)
WHOLE_TICKS = "Yellow ticks are the tokens of your text."

ONE_TITLE = "The same as a multiplication"
ONE_TEXT = (
    "On paper, looking up is a matrix product: a vector of {rows:,} zeros with a single 1 at place "
    "{row:,} ([[one-hot]]), times the table. Drawn are the places next to the 1; the {left:,} that "
    "are left out are also 0 times something. Keep a cell of the result and every other row of "
    "the table is struck out by its zero."
)
ONE_COST = (
    "Worked out in full, that is {all:,} multiplications, and {zero:,} of them are by 0. The "
    "largest difference between product and row is {difference:g}. So a program does not multiply: "
    "it takes the row."
)
COLUMN = "First of the numbers drawn"
HOT, TABLE, ROW = "one-hot", "table", "embedding"
HOT_FORMULA = "place {first:,} to {last:,} of {rows:,}"
TABLE_FORMULA = "rows {first:,} to {last:,}, numbers {left} to {right}"
ROW_FORMULA = "one-hot × table = row {row:,}"

IDS_TITLE = "The id means nothing"
IDS_TEXT = (
    "How alike are two rows? One measure is their [[cosine similarity|cosine]]: multiply them "
    "number by number, add the products up, and divide by the lengths of both rows. It is 1 where "
    "two rows point the same way, 0 where they are at right angles and −1 where they point in "
    "opposite ways. The next chapter works one out number by number."
)
IDS_PICTURE = (
    "Each dot is a token. To the right: how far its id is from the id of {word}. Upwards: the "
    "cosine of its row with that of {word}. If near ids meant alike rows, the dots near the left "
    "edge would stand high."
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
    "**{cosine}** and lie {distance:.2f} apart. The very next id, {k:,}, is {next}: cosine "
    "**{next_cosine}**, {next_distance:.2f} apart."
)
IDS_CORRELATION = (
    "Over all {count:,} tokens, the correlation between distance of ids and cosine is {r} "
    "(−1 would be “near ids, alike rows”, 0 no connection)."
)
IDS_ORDER = {
    "bpe": (
        "It need not be 0. BPE numbers its tokens in the order of its merges: a low id was joined "
        "early, when its pair was the most frequent one. That is not how frequent the token is "
        "now: many early ones have become parts of longer tokens. Deal new ids: that trace is "
        "gone, and not one cosine has changed."
    ),
    "tiktoken": (
        "It need not be 0. BPE numbers its tokens in the order of its merges: a low id was joined "
        "early, when its pair was the most frequent one. Deal new ids: that trace is gone, and not "
        "one cosine has changed."
    ),
    "word": (
        "It need not be 0: these ids are places in the alphabet, and words with a capital, which "
        "are names, stand together there."
    ),
    "char": (
        "It need not be 0: these ids follow the character codes, in which digits, capitals and "
        "small letters stand together."
    ),
}
IDS_ORDER["published"] = IDS_ORDER["tiktoken"]
IDS_FLAT = (
    "{count:,} dots lie in one line, at a cosine of about {height}. Their rows point nearly the "
    "same way: their cosine with each other is {alike} on average. Point at some: there are bytes "
    "that the stories lack, and pieces that are nearly always inside of longer tokens."
)
IDS_DEALT = (
    "These ids were dealt out at random (deal {deal}). Every row went along with its token, so all "
    "cosines are what they were, and a model with this table writes the same texts."
)

ASK = "Which of these tokens has the row most like that of {word}?"
ASK_ANSWER = "{token} (id {id:,})"
ASK_WHY = "{token} has id {id:,} ({gap:,} away) and a cosine of {cosine}."
ASK_RIGHT = "Ids play no part in a cosine: it is made of the two rows alone."

DOWNLOAD_TITLE = "Take the table along"
DOWNLOAD_TEXT = (
    "{rows:,} rows × {columns} numbers, in the fewest digits that give back the same value. The "
    "two TSV files are what TensorFlow's embedding projector reads."
)
CSV, TSV, LABELS = "Vectors as CSV", "Vectors as TSV", "Labels as TSV"
