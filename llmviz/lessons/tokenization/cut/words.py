"""All that the chapter "Cut" says. Names in braces are filled in with live numbers."""

from llmviz.textfile import ENDOFTEXT

CUT_TITLE = "Your text, cut into tokens"
CUT_TEXT = (
    "Each box is one token. The small number is its [[token id]]: its line in the [[vocabulary]], "
    "counted from 0. The number is a name, not a quantity. A dot stands for a space. Point at a "
    "box to see its [[byte|bytes]]. Click it to keep it in view."
)
CUT_COUNTS = (
    "{characters}, {tokens}: **{ratio:.2f} characters per token**. The ids of this tokenizer go "
    "from 0 to {last:,}."
)
CUT_CHOSEN = (
    "Token {position} of {total} is {text}, id {id}. It covers {characters}, written as the bytes "
    "`{bytes}`. This id occurs {times} in the text."
)
CUT_PART = "a part of {characters}"
SPECIAL_SWITCH = "Read special tokens"
SPECIAL_HELP = (
    "Text such as <|endoftext|> then becomes one token. Otherwise it is cut like any other text."
)
LOAD_FILE = "Load a tokenizer"
LOAD_FILE_LABEL = "A tokenizer saved with the button below (JSON)"

BOTH_TITLE = "Both ways"
BOTH_TEXT = (
    "To [[encode]] is to go from text to ids; to [[decode]] is to go back. Type some ids: those of "
    "{name} go from 0 to {last:,}."
)
IDS_OF_TEXT = "Your text as ids"
IDS_CUT = "The first {listed:,} of {all:,} ids."
TYPE_IDS = "Ids to decode"
DECODED = "Decoded text"
BACK_EXACT = "Decoding all ids of your text gives it back exactly."
BACK_UNKNOWN = (
    "Decoding all ids of your text does **not** give it back. Some parts are not in the "
    "vocabulary. They are lost, and {unknown} is in their place."
)
BACK_SPACING = (
    "Decoding all ids of your text does **not** give it back exactly. This tokenizer does not keep "
    "all spaces and line ends."
)
NOT_AN_ID = "{written!r} is not an id. Ids are whole numbers, with spaces or commas between them."

TABLE_TITLE = "The vocabulary"
TABLE_TEXT = (
    "A tokenizer is this list and a rule for using it. The model sees only the first column, the "
    "id."
)
TABLE_VIEWS = {"text": "Tokens in your text", "all": "Whole vocabulary"}
TABLE_FROM = "From id"
COLUMNS = {"id": "id", "bytes": "bytes", "text": "text", "count": "in your text"}
SAVE_TABLE = "Table as CSV"
SAVE_TOKENIZER = "Tokenizer as JSON"

SPECIAL_TITLE = "Special tokens"
SPECIAL_TEXT = (
    "A [[special token]] is not a piece of text. It marks something. This tokenizer has {listed}. "
    "A text that only *looks* like a special token stays ordinary text, unless the program is told "
    "to read it as one. Here is the same text read both ways."
)
SPECIAL_ITEM = "{text} (id {id:,}){meaning}"
SPECIAL_MEANINGS = {
    ENDOFTEXT: ", which ends a text and is the [[start token]] of the next one",
    "<|unk|>": ", which stands for a part of the text that is not in the vocabulary",
    "<|pad|>": ", which is [[padding]]",
    "[PAD]": ", which is [[padding]]",
    "[UNK]": ", which stands for a word that cannot be cut into known pieces",
    "[CLS]": ", which comes before the text",
    "[SEP]": ", which comes at the end of each text",
}
SPECIAL_NONE = "This tokenizer has no special tokens."
SPECIAL_SAMPLE = "The end.{special}Once upon"
SPECIAL_ROWS = ("as ordinary text", "as a special token")

ASK_UPPER = (
    "Your text has {characters}. {name} cuts it into {tokens}. WRITTEN IN CAPITALS, the text has "
    "{capitals}. Into how many tokens is it cut then?"
)
ASK_UPPER_LENGTH = "the same number of characters"
ASK_UPPER_ANSWERS = ("Fewer", "Just as many", "More")
ASK_UPPER_REASONS = (
    "{before:,} before, {after:,} after. To this tokenizer, `the` and `THE` are different texts. "
    "In capitals, your text is made of fewer tokens.",
    "{before:,} before, {after:,} after. To this tokenizer, `the` and `THE` are different texts. "
    "In capitals, your text is made of other tokens, but of the same number.",
    "{before:,} before, {after:,} after. To this tokenizer, `the` and `THE` are different texts. "
    "In capitals, your text is made of more tokens.",
)
ASK_UPPER_UNKNOWN = (
    "{before:,} before, {after:,} after. This tokenizer has no token for some parts of the text in "
    "capitals. Each of these parts is one {unknown}."
)
