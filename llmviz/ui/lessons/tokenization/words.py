"""All that the lesson on tokens says, in one place: translating it means translating this file.

Names in braces are filled in with live numbers.
"""

TITLE = "Text to tokens"
PROMISE = (
    "A language model never sees letters. Your text is cut into [[token|tokens]], and what the "
    "model reads is the number of each. Here you cut your own text, watch a tokenizer learn where "
    "to cut, and end with the very rows of numbers that a model practises on."
)

# ---- tokenizers and corpora, by the names that links use

CHOOSE_TOKENIZER = "Tokenizer"
TOKENIZERS = {
    "trained": "the BPE that you train in the part “Learn”",
    "loaded": "from the file that you loaded",
}
NO_FILE = "A tokenizer file is not in a link, and none was loaded here."
BPE_INSTEAD = "The bundled BPE is shown instead."
NO_SNIPPET = (
    "No snippet here: it would have to quote a file or a long text of yours. The functions are "
    "the same for every other choice."
)

# ---- cut

CUT = "Cut"
CUT_TITLE = "Your text, cut into tokens"
CUT_TEXT = (
    "Each chip is one token, and the small number is its [[token id]]: its line in the "
    "[[vocabulary]], a name and not a quantity. A dot stands for a space. Point at a chip to see "
    "its [[byte|bytes]]; click it to keep it."
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
IDS_CUT = "The first {shown:,} of {all:,} ids."
TYPE_IDS = "Ids to decode"
DECODED = "They say"
BACK_EXACT = "Decoding all ids of your text gives it back, letter for letter."
BACK_CHANGED = (
    "Decoding all ids of your text does **not** give it back letter for letter: spacing and "
    "unknown parts are lost with this tokenizer."
)
NOT_AN_ID = "Ids are whole numbers with spaces or commas between them; {found!r} is none."

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
    "A [[special token]] marks an event, such as the end of a document, and has an id that no "
    "ordinary text can reach: {listed}. Text that merely *looks* like one stays ordinary text, "
    "unless whoever prepares the training data says otherwise. Here is the same text read both "
    "ways."
)
SPECIAL_NONE = "This tokenizer has no special tokens."
SPECIAL_SAMPLE = "The end.{special}Once upon"
SPECIAL_ROWS = ("as ordinary text", "as a special token")

ASK_UPPER = (
    "Your text makes {tokens} with {name}. WRITTEN IN CAPITALS it has just as many letters. How "
    "many tokens will it make?"
)
ASK_UPPER_ANSWERS = ("Fewer", "Just as many", "More")
ASK_UPPER_REASON = (
    "{before:,} become {after:,}. To a tokenizer `the` and `THE` are different texts with "
    "different ids, and its list holds what was frequent where it was learned."
)

# ---- compare

COMPARE = "Compare"
COMPARE_TITLE = "The same text, cut differently"
COMPARE_TEXT = (
    "Each row is one tokenizer, and its boxes stand under the characters that they cover. Point "
    "at any box: the same characters light up in every row. Long boxes mean short sequences, "
    "which are cheaper to read, but every kind of box needs a line in the vocabulary."
)
COMPARE_CHOOSE = "Tokenizers"
COMPARE_NONE = "Choose at least one tokenizer."
COMPARE_NOTE = "{tokens} · {ratio:.2f} characters per token · vocabulary {vocabulary:,}"
UNITS_TITLE = "Whole words, single characters, and between"
UNITS_TEXT = (
    "Try words that belong together. To a word tokenizer two forms of one word are two numbers "
    "with nothing in common, and a word that is [[out of vocabulary]] becomes `<|unk|>`. "
    "Characters can write anything, at one token a letter. Sub-words are the way between."
)
UNITS_WORDS = "Words"
UNITS_DEFAULT = "boy boys dinosaur"
UNITS_KNOWN = "The word tokenizer knows {known}. Their ids say nothing of what the words share."
UNITS_UNKNOWN = (
    "It has never met {unknown}: all of it becomes `<|unk|>`, and what was meant is lost."
)
UNITS_LENGTH = "{longest} is {char} as characters, {word} as a word and {bpe} as BPE."
ASK_SCRIPT = "Which of these needs the fewest tokens for {text}, and still can give it back?"
ASK_SCRIPT_RIGHT = "{name} needs {tokens}."
ASK_SCRIPT_WRONG = "{name} needs {tokens}."
ASK_SCRIPT_LOST = "{name} makes {tokens}, but they are `<|unk|>`: the text cannot come back."
ASK_SCRIPT_TEXT = "안녕하세요"

# ---- learn

LEARN = "Learn"
LEARN_TITLE = "How a tokenizer learns where to cut"
LEARN_TEXT = (
    "[[BPE]] starts from the 256 [[byte|bytes]], counts every pair of neighbours in the "
    "[[corpus]], and makes the most frequent pair a new token: a [[merge]]. Then it counts again. "
    "Press play, drag the slider, or use the arrow keys, and watch your text being glued together."
)
LEARN_CORPUS = "Corpus"
CORPORA = {
    "tiny-world-sample": "Stories (1 MB)",
    "story": "One story",
    "names": "Names",
    "text": "Your text",
    "own": "Your own corpus",
}
LEARN_SIZE = "Vocabulary size"
OWN_LABEL = "Paste a text to learn from"
OWN_UPLOAD = "or load a text file (UTF-8, up to {limit})"
OWN_CUT = "The corpus has {all:,} characters; training uses the first {limit:,}."
OWN_CORPUS = (
    "low lower lowest low low new newer newest newest new wide wider widest widest "
    "slow slower slowest"
)
TRAINING = "Training …"
STOPPED_EARLY = (
    "Training stopped after {merges}: every piece of this corpus is one token by then, so there "
    "is no pair left to merge. The vocabulary has {vocabulary:,} tokens instead of {size:,}."
)
NO_MERGES = (
    "This corpus has no two neighbours to merge, so the vocabulary is the {vocabulary} bytes and "
    "special tokens."
)
LEARN_CURVE = (
    "After {step} of {all} the corpus of {bytes:,} bytes is {tokens:,} tokens long: "
    "**{ratio:.2f} bytes per token**."
)
SUBWORDS_TITLE = "What the merges know by now"
SUBWORDS_TEXT = (
    "Frequent words have been glued together whole; rare ones still fall into pieces, and the "
    "pieces are often worth something: a stem, an ending. The rows below follow the film."
)
SUBWORDS_WORDS = "Words to follow"
SUBWORDS_DEFAULT = "the morning token tokens tokenization modernization"
SUBWORDS_NOTE = "{pieces} · {times} in the corpus"
ASK_SAVING = (
    "The first {half:,} merges shortened the corpus from {start:,} tokens to {middle:,}. How much "
    "will the next {half:,} merges take away?"
)
ASK_SAVING_ANSWERS = ("More than that", "About as much", "Less than that")
ASK_SAVING_REASON = (
    "The first {half:,} merges took away {first:,} tokens, the next {half:,} took {second:,}. The "
    "most frequent pair goes first, so each merge finds fewer places than the one before."
)

# ---- merge

MERGE = "Merge"
MERGE_TITLE = "Which merge comes first"
MERGE_TEXT = (
    "To cut a word, BPE starts from its bytes and applies the merges that it learned: always the "
    "one of lowest [[rank]] next, wherever in the word it fits, not the first from the left. Step "
    "through it. Below the tree stands what taking the longest token from the left would give."
)
MERGE_WORD = "Word"
MERGE_WORD_DEFAULT = "tokenization"
MERGE_SPACE = "With the space before it"
MERGE_RULES = "Merges of"
MERGE_RULE_NAMES = {
    "bpe": "the bundled BPE",
    "trained": "the BPE of “Learn”",
    "loaded": "your file",
}
NOT_BPE = "This file holds no BPE, so there are no merges to show; choose another."
MERGE_PIECE = "Piece"
MERGE_PIECES = (
    "This is cut into {pieces} before any merge, since no merge crosses the border of a "
    "[[pre-token]]. Choose the one to look at."
)
MERGE_EMPTY = "Type a word to see its merges."
MERGE_CUT = "The tree shows the first {limit} bytes of {all}."
MERGE_SAME = "taking the longest from the left happens to give the same here"
MERGE_DIFFERENT = "taking the longest from the left gives tokens that the model was not trained on"
MERGE_NOTHING = "No merge fits: {word} stays in single bytes."
MERGE_COUNT = "{merges} turn {bytes} of {word} into {tokens}."
ASK_FIRST = "Another word of your text, {word}: which two neighbours are joined first?"
ASK_FIRST_REASON = (
    "{pair} is merge number {rank:,}; the lowest number among the pairs of this word is first."
)
ASK_FIRST_LATER = "{pair} is merge number {rank:,}: another pair has a lower one."
ASK_FIRST_NEVER = "{pair} was never merged in training; no token is made of these two."

# ---- bytes

BYTES = "Bytes"
BYTES_TITLE = "What you see, what is stored, what is counted"
BYTES_TEXT = (
    "One letter on the screen can be several [[character|characters]], a character can be up to "
    "four [[byte|bytes]], and a token border may fall in the middle of it. Such a piece stands for "
    "no text by itself, so it is written as its bytes."
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
BYTES_WHOLE = "No tokenizer here cuts inside a character of it."
BYTES_SAME_LOOK = (
    "The two é look the same. The first is one character, the second a letter and a mark that is "
    "drawn above it: to a tokenizer these are different texts."
)
BYTES_COLUMNS = {
    "character": "character",
    "code": "code point",
    "name": "name",
    "bytes": "bytes",
}
BYTES_TABLE = "Each character, and how many tokens touch it with each tokenizer:"
ASK_BYTES = "How many bytes does {character} take in UTF-8?"
ASK_BYTES_RIGHT = "Its code point is U+{code:04X}, and UTF-8 writes {range} with {bytes}."
ASK_BYTES_WRONG = "{bytes} reach {range}."
ASK_BYTES_RANGES = ("U+0000 to U+007F", "U+0080 to U+07FF", "U+0800 to U+FFFF", "U+10000 upwards")
ASK_BYTES_POOL = "ñ€ж🚀あq"

# ---- windows

WINDOWS = "Windows"
WINDOWS_TITLE = "What the model practises on"
WINDOWS_TEXT = (
    "For training, the tokens are cut into windows of the [[context length]]. Each window comes "
    "with a copy shifted by one, its targets, so that one window holds a whole list of exercises: "
    "given these tokens, say the next. Click a window to read its list."
)
WINDOWS_CONTEXT = "Context length"
WINDOWS_STRIDE = "Stride"
WINDOWS_BATCH = "Batch size"
WINDOWS_CUT = "The windows are drawn over the first {limit} of {all:,} tokens."
WINDOWS_COUNTS = "{tokens} give {windows} in {batches}, with {predictions} to make. {overlap}"
WINDOWS_OVERLAP = "The stride is {less} less than the context, so neighbours share {shared}."
WINDOWS_EDGE = "The stride equals the context: every token is an input once, and none twice."
WINDOWS_GAP = "The stride is larger than the context: {missed} never visited."
WINDOWS_REST = "At the end {missed} never visited: too few for another window."
WINDOWS_TENSORS = (
    "Batch {batch} as the model receives it: inputs on the left, targets on the right, both of "
    "shape {rows} × {columns}."
)
WINDOWS_INPUTS = "inputs"
WINDOWS_TARGETS = "targets"
ASK_STRIDE = (
    "With a stride of {stride} there are {windows}. How many will there be with a stride of "
    "{double}?"
)
ASK_STRIDE_RIGHT = (
    "A window begins at every {double}th token as long as its last target exists: {windows}."
)
ASK_STRIDE_SAME = (
    "A window begins at each multiple of the stride; a larger stride has fewer of them."
)
ASK_STRIDE_MORE = "A larger stride takes larger steps, so there are fewer windows, not more."
ASK_STRIDE_NEAR = (
    "Nearly; count the places where a window can begin and still have its last target."
)
ASK_TARGET = "In window 1 the model reads {context}. What is its target at the last position?"
ASK_TARGET_RIGHT = "The target is the token that comes next in the text."
ASK_TARGET_COPY = "That is the last input itself. A model with such targets would learn to copy."
ASK_TARGET_OTHER = "That token stands elsewhere; the target is the very next one."
