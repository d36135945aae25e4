"""All that the chapter "Counts" says. Names in braces are filled in with live numbers."""

TITLE = "First of all, count"
TEXT = (
    "Much can be learned about a text by counting alone. A run of n words that follow each other "
    "is an [[n-gram]]: single words are 1-grams, pairs are 2-grams. Punctuation marks are left "
    "out, and a run may go on over the end of a sentence. Point at a word to see how often it "
    "appears."
)
SOURCE = "Count in"
SOURCES = {"text": "Your text", "story": "A story", "tiny-world-sample": "Tiny-world"}
N = "Words in a run, n"
FOLD = "Capitals count as small letters"
STRIP = "the text"
STRIP_VALUE = "count"
STRIP_CUT = "The strip shows the first {drawn:,} of {all:,} words; all of them are counted."
CARD_SHARE = "share of all words"
NO_WORDS = "There is no word in this text: it holds no letter and no digit."
READ = "{all} in all, {different} different. The most frequent is {first}, {share} of all words."
READ_TIES = (
    "{all} in all, {different} different. No single word is the most frequent: {ties} appear "
    "{times} each, {first} for example."
)
UNSPACED = (
    "Words are found by the spaces and punctuation marks between them. Chinese, Japanese, Thai and "
    "some other scripts are written without such spaces, so a whole run of their letters counts as "
    "one word here, such as “{word}”."
)
GRAMS_TITLE = "Words that come together"
GRAMS_TEXT = (
    "In most long texts, the longer the runs, the more different ones there are, and the larger "
    "the share that was seen only once. A run that was never seen may be rare or impossible: a "
    "model that knew nothing but these counts could not tell which."
)
GRAMS_AXIS = "count"
NO_GRAMS = "No run of {n} words fits into a text of {words}."
SPARSE_COLUMNS = ("different", "seen once", "share")
ANSWER_FIRST = "How many runs there are of each length is shown once you have answered."
SPARSE_ROW = "{n}-grams"
SPARSE_LABEL = "how many different runs there are, and how many were seen only once"
SPARSE_ONCE = "{once:,} of {different:,} different {n}-grams were seen only once: {share}"
SPARSE_DIFFERENT = "{different:,} different among the {all:,} {n}-grams of the text"

ZIPF_TITLE = "Zipf's line"
ZIPF_TEXT = (
    "Sort the words by count: the most frequent has rank 1. Draw rank and count on axes on which "
    "each step multiplies by the same number. In long texts that people wrote, the points lie near "
    "a straight line that falls with a slope of about −1. So the word of rank 10 appears about a "
    "tenth as often as that of rank 1. This is [[Zipf's law]]. Short texts can have another slope."
)
ZIPF_AXES = ("rank of the word", "count")
ZIPF_LINE = "the line that fits best"
ZIPF_CUT = "Of {words:,} words {drawn:,} have a point; the line is fitted to all of them."
ZIPF_READ = (
    "The line through the {words:,} different words of this text is count = e^{intercept} · "
    "rank^({slope}). At rank {rank} it says {line}; the word of this rank, {word}, appears "
    "{count}. The line is fitted to the logarithms, by least squares. Words with the same count "
    "are in the order of the alphabet, capitals first."
)
ZIPF_TOO_FEW = "A line needs at least two different words; this text has one."

TFIDF_TITLE = "What is each sentence about? tf-idf"
TFIDF_TEXT = (
    "A word says much about a sentence if it appears often there and in few other sentences. "
    "[[tf-idf]] multiplies both: how often the word stands in this sentence (tf), and how rare it "
    "is among all sentences (idf). Then each row is divided by its length, the root of its sum of "
    "squares, so that a sentence does not get larger weights only because it is long. A sentence "
    "ends at a full stop, ? or !. Click a cell: its arithmetic opens."
)
TFIDF_CUT = "The text has {all:,} sentences with words; the first {documents:,} of them are used. "
TFIDF_ROWS = "The tables show the first {rows:,} of these {documents:,} sentences. "
TFIDF_WORDS = (
    "Of the {words:,} different words the {drawn:,} with the largest weights in these rows have a "
    "column. The length of a row counts all words."
)
TFIDF_ONE = (
    "Only one sentence of the text has words, so every word stands in every sentence: all have the "
    "same idf. Add a second sentence to tell them apart."
)
TF, DF, IDF, PRODUCT, LENGTH, WEIGHTS = "tf", "df", "idf", "tf · idf", "length", "weights"
TF_FORMULA = "count of the word in the sentence"
DF_FORMULA = "sentences with the word"
IDF_FORMULA = "ln((1 + D) ÷ (1 + df)) + 1, with D = {documents}"
LENGTH_FORMULA = "root of the sum of squares of the whole row"
WEIGHTS_FORMULA = "tf · idf ÷ length"
SENTENCE = "{number}. {start}"
WORD_AXIS, SENTENCE_AXIS = "word", "sentence"

ASK_ONCE = "Of the different {n}-grams of this text, how many were seen only once?"
ASK_ONCE_ANSWERS = ("Fewer than a third", "A third to two thirds", "More than two thirds")
ASK_ONCE_REASON = "{once:,} of {different:,}: {share}."
ASK_WEIGHT = "In sentence {number}, {sentence}: which word has the largest tf-idf weight?"
ASK_WEIGHT_RIGHT = "Its weight is {weight}: tf = {tf}, and it stands in {df} of {all} sentences."
ASK_WEIGHT_WRONG = (
    "Its weight is {weight}: tf = {tf}, and it stands in {df} of {all} sentences. Another word "
    "weighs more."
)
