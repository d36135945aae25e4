"""What the chapter on the table of vectors says."""

TITLE = "Reading a token is taking a row"
TEXT = (
    "The model has a table, the embedding matrix. The table has one row of numbers for every token "
    "of the [[vocabulary]]. The [[token id]] is the number of the row. This row is the "
    "[[embedding]] of the token. The rest of the model sees nothing else of the token."
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
    "all": (
        "One dot for each number, token after token. The tokens are in columns, as in a newspaper."
    ),
    "some": (
        "This screen is small, so only one number in {every} has a dot. The close-up has all "
        "numbers."
    ),
}
WHOLE = "**All of {name}'s table: {rows:,} tokens × {columns} numbers = {numbers:,}.**"
WHOLE_ROW = (
    "{label} is row {row:,}, the bright line. The close-up shows this row and the rows next to it."
)
WHOLE_TICKS = "Yellow ticks are the tokens of your text."

ONE_TITLE = "The same as a multiplication"
ONE_TEXT = (
    "In mathematics, taking a row is a matrix product. A vector of {rows:,} numbers has a 1 at "
    "place {row:,} and 0 at all other places. It is called [[one-hot]]. This vector is multiplied "
    "with the table. Click a cell of the result: all rows but one are multiplied by 0."
)
ONE_LEFT = (
    "The picture shows the places next to the 1. The numbers at the {left:,} others are 0, too."
)
ONE_COST = (
    "In full, that is {all:,} multiplications, and {zero:,} of them are by 0. The largest "
    "difference between product and row is {difference:g}. So a program does not multiply. It "
    "takes the row."
)
COLUMN = "First of the numbers drawn"
HOT, TABLE, ROW = "one-hot", "table", "embedding"
HOT_FORMULA = "place {first:,} to {last:,} of {rows:,}"
TABLE_FORMULA = "rows {first:,} to {last:,}, numbers {left} to {right}"
ROW_FORMULA = "one-hot × table = row {row:,}"

IDS_TITLE = "The id means nothing"
IDS_TEXT = (
    "How alike are two rows? One measure is their [[cosine similarity|cosine]]: multiply the rows "
    "number by number, add up the products, and divide by the lengths of both rows. The cosine is "
    "1 if two rows point the same way, and 0 if they are at right angles. It is −1 if they point "
    "in opposite ways. The next chapter computes a cosine number by number."
)
IDS_PICTURE = (
    "Each dot is a token. A dot is farther to the right if its id is farther from the id of "
    "{word}. It is higher if the cosine of its row with the row of {word} is higher. If tokens "
    "with near ids had similar rows, the dots near the left edge would be high."
)
OTHER = "Compare with"
DEAL = "Shuffle the ids"
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
    "**{cosine}** and lie {distance:.2f} apart. The id {k:,}, next to the id of {word}, belongs to "
    "{next}. The rows of {word} and {next} have a cosine of **{next_cosine}** and lie "
    "{next_distance:.2f} apart."
)
IDS_CORRELATION = (
    "For {count:,} tokens we compare two numbers. One is the distance of the id from the id of the "
    "chosen token. The other is the cosine of the two rows. Their correlation is {r}. With a "
    "correlation of −1, a nearer id would always mean a higher cosine. With 0, there is no such "
    "rule."
)
IDS_ORDER = {
    "bpe": (
        "The correlation need not be 0, because the ids are not random. First come the 256 bytes, "
        "then the tokens in the order of the merges that made them. Shuffle the ids: this order is "
        "gone, and no cosine has changed."
    ),
    "tiktoken": (
        "The correlation need not be 0, because the ids are not random. This tokenizer numbers "
        "most of its tokens in the order in which it learned them. Shuffle the ids: this order is "
        "gone, and no cosine has changed."
    ),
    "word": (
        "The correlation need not be 0: these ids follow the alphabet. Words that begin with a "
        "capital letter are together there, and so are words with the same first letters."
    ),
    "char": (
        "The correlation need not be 0: these ids follow the character codes. There the digits are "
        "together, and so are the capital letters and the small letters."
    ),
}
IDS_ORDER["published"] = IDS_ORDER["tiktoken"]
IDS_FLAT = (
    "{count:,} tokens have rows that point nearly the same way: their cosine with each other is "
    "{alike} on average. Nine in ten of their dots lie between the heights {low} and {high}. Point "
    "at some dots to see which tokens they are."
)
IDS_DEALT = (
    "These ids were given at random (shuffle {deal}). Each token kept its row. So no cosine has "
    "changed, and the model would write the same texts."
)

ASK = "Which of these tokens has the row that is most like the row of {word}?"
ASK_ANSWER = "{token} (id {id:,})"
ASK_WHY = "{token} has id {id:,} ({gap:,} away) and a cosine of {cosine}."
ASK_RIGHT = "Ids play no part in a cosine: it is computed from the two rows alone."

DOWNLOAD_TITLE = "Download the table"
DOWNLOAD_TEXT = (
    "{rows:,} rows × {columns} numbers. Each number has only as many digits as are needed to read "
    "back the same value. TensorFlow's embedding projector reads the two TSV files."
)
CSV, TSV, LABELS = "Vectors as CSV", "Vectors as TSV", "Labels as TSV"
