"""All that the chapter "Bytes" says. Names in braces are filled in with live numbers."""

BYTES_TITLE = "What you see, what is stored, what is counted"
BYTES_TEXT = (
    "One letter on the screen can be several [[character|characters]]. A character is one to four "
    "[[byte|bytes]]. A token can end in the middle of a character. Such a token is not a text by "
    "itself, so you see its bytes."
)
BYTES_CHOOSE = "Text"
BYTES_SAMPLES = {
    "all": ("All of these", "🙂 한국어 é e\u0301"),
    "emoji": ("🙂", "🙂"),
    "hangul": ("한국어", "한국어"),
    "accents": ("é, written two ways", "é e\u0301"),
    "astronaut": ("👩‍🚀", "👩‍🚀"),
    "own": ("Your text", ""),
}
BYTES_ROWS = ("bytes", "characters")
BYTES_COUNTS = "{text} is {characters} and {bytes}. {split}"
BYTES_SPLIT = "{name} cuts inside {times}"
BYTES_WHOLE = "No tokenizer here cuts inside a character of this text."
BYTES_SAME_LOOK = (
    "The two é look the same. The first is one character. The second is two: a letter, and a mark "
    "that is drawn above the letter. To a tokenizer, these are different texts."
)
BYTES_COLUMNS = {
    "character": "character",
    "code": "code point",
    "name": "name",
    "bytes": "bytes",
}
BYTES_TABLE = "Each character, and how many tokens of each tokenizer cover it or a part of it:"
ASK_BYTES = "How many bytes does {character} take in UTF-8?"
ASK_BYTES_RIGHT = (
    "Its code point is U+{code:04X}. UTF-8 writes each code point from {range} with {bytes}."
)
ASK_BYTES_WRONG = (
    "UTF-8 writes each code point from {range} with {bytes}. The code point of this character is "
    "U+{code:04X}."
)
ASK_BYTES_RANGES = (
    "U+0000 to U+007F",
    "U+0080 to U+07FF",
    "U+0800 to U+FFFF",
    "U+10000 to U+10FFFF",
)
ASK_BYTES_POOL = "ñ€ж🚀あq"
