"""All that the chapter "Cut" says. Names in braces are filled in with live numbers."""

CUT_TITLE = "Your text, cut into tokens"
CUT_TEXT = (
    "Each chip is one token, and the small number is its [[token id]]: its line in the "
    "[[vocabulary]], counted from 0. It is a name, not a quantity. A dot stands for a space. Point "
    "at a chip to see its [[byte|bytes]]; click it to keep it."
)
CUT_COUNTS = (
    "{characters}, {tokens}: **{ratio:.2f} characters per token**, from a vocabulary of "
    "{vocabulary:,}."
)
CUT_CHOSEN = (
    "Token {position} of {total} is {text}, id {id}. It covers {characters}, written as the "
    "bytes `{bytes}`, and stands {times} in this text."
)
SPECIAL_SWITCH = "Read special tokens"
SPECIAL_HELP = "Text such as <|endoftext|> then becomes one token instead of ordinary characters."
LOAD_FILE = "Load a tokenizer"
LOAD_FILE_LABEL = "A tokenizer saved with the button below (JSON)"

BOTH_TITLE = "Both ways"
BOTH_TEXT = (
    "To [[encode]] is to go from text to ids, to [[decode]] is to come back. Type ids of your own: "
    "{name} has {vocabulary:,} of them, 0 to {last:,}, and refuses any other."
)
IDS_OF_TEXT = "Your text as ids"
IDS_CUT = "The first {listed:,} of {all:,} ids."
TYPE_IDS = "Ids to decode"
DECODED = "They say"
BACK_EXACT = "Decoding all ids of your text gives it back, letter for letter."
BACK_CHANGED = (
    "Decoding all ids of your text does **not** give it back letter for letter: spacing and "
    "unknown parts are lost with this tokenizer."
)
NOT_AN_ID = "Ids are whole numbers with spaces or commas between them; {written!r} is none."

TABLE_TITLE = "The vocabulary"
TABLE_TEXT = (
    "A tokenizer is this list and a rule for using it. The first column is all that the model "
    "will ever see of a token."
)
TABLE_VIEWS = {"text": "Tokens in your text", "all": "Whole vocabulary"}
TABLE_FROM = "From id"
COLUMNS = {"id": "id", "bytes": "bytes", "text": "text", "count": "in your text"}
SAVE_TABLE = "Table as CSV"
SAVE_TOKENIZER = "Tokenizer as JSON"

SPECIAL_TITLE = "Special tokens"
SPECIAL_TEXT = (
    "A [[special token]] is no piece of text. It marks something, and ordinary text never gets its "
    "id: {listed}. `<|endoftext|>` ends a text and is the [[start token]] of the next one, "
    "`<|unk|>` stands for what a tokenizer does not know, `<|pad|>` is [[padding]]. Text that only "
    "*looks* like a special token stays ordinary text, unless the program is told to read it as "
    "one. Here is the same text read both ways."
)
SPECIAL_NONE = "This tokenizer has no special tokens."
SPECIAL_SAMPLE = "The end.{special}Once upon"
SPECIAL_ROWS = ("as ordinary text", "as a special token")

ASK_UPPER = (
    "Your text has {characters} and makes {tokens} with {name}. WRITTEN IN CAPITALS it has "
    "{capitals}. How many tokens will it make?"
)
ASK_UPPER_LENGTH = "just as many characters"
ASK_UPPER_ANSWERS = ("Fewer", "Just as many", "More")
ASK_UPPER_REASONS = (
    "{before:,} before, {after:,} after. To a tokenizer `the` and `THE` are different texts; this "
    "text in capitals is made of fewer pieces of its vocabulary.",
    "{before:,} before, {after:,} after. To a tokenizer `the` and `THE` are different texts; this "
    "text in capitals is made of other pieces, but of just as many.",
    "{before:,} before, {after:,} after. To a tokenizer `the` and `THE` are different texts; this "
    "text in capitals is made of more pieces of its vocabulary.",
)
ASK_UPPER_UNKNOWN = (
    "{before:,} before, {after:,} after. In capitals, this tokenizer has no token for some parts "
    "of the text; each such part is one `<|unk|>`."
)
