"""All that the chapter "Parts of speech" says. Names in braces are filled in with live numbers."""

TITLE = "Which words are verbs?"
TEXT = (
    "Every word of a sentence plays a part: noun, verb, preposition … Many words can play several. "
    "Its tag is the name of this part; punctuation marks have one, too, and count as words here. "
    "Two programs tag your text here. The first is a [[hidden Markov model]]: two tables counted "
    "in {stories} stories whose grammar says what each word is. The second is one linear layer on "
    "the vectors of the story model, a transformer that was never told about tags."
)
GRID = "the words with the tags of both taggers"
ROWS = ("counted tables", "transformer", "times counted")
NOTE_HMM = "{tag} by the tables"
NOTE_TRANSFORMER = "{tag} by the transformer's vectors"
NOTE_SEEN = "{count} in the counted stories"
NOTE_UNSEEN = "never in the counted stories: the tables know nothing of this word"
UNSEEN_MARK = "{word} ?"
CUT = "The table shows the first {drawn} of {all:,} words."
AGREE = "The two agree on {agree} of {words}."
UNSEEN = (
    "Words with a question mark never stood in the counted stories: {words}. For them the tables "
    "have only what [[smoothing]] gives: a small chance under each tag, the same for every such "
    "word. So its place in the sentence and the tags beside it decide, and not its letters."
)
LEGEND = "Tags: {tags}. They are those of Universal Dependencies."

LATTICE_TITLE = "Viterbi's lattice"
LATTICE_TEXT = (
    "A sentence of {words} can be tagged in {ways} ways ({tags} tags for each word). [[Viterbi]]'s "
    "algorithm finds the most probable way; for three words or more it does so without trying all "
    "ways. It goes from word to word. For each tag it keeps one number: the logarithm of the "
    "probability of the best way that ends there. Play it, and click a cell: its arithmetic opens."
)
WHICH = "Sentence"
LATTICE_CUT = "The lattice has the first {drawn} of {all} words of this sentence."
LATTICE_LABEL = "a column of tags for each word"
CAPTION_FIRST = (
    "{word} is the first word. Each cell: ln P(the tag begins a sentence) + ln P({word} | tag). "
    "The best cell is {tag} with {score}."
)
CAPTION = (
    "{word}: each cell takes the best of {tags} sums, a cell before it plus the transition from "
    "there. Then it adds ln P({word} | tag). The best cell is {tag} with {score}."
)
CAPTION_UNSEEN = " This word was never counted: its chances are those of every unseen word."
CAPTION_LAST = (
    "Walk back from the best cell of the last column, along the lines: {path}. The logarithm of "
    "the probability of these words with these tags is {score}."
)
LATTICE_TEXTS = {
    "label": LATTICE_LABEL,
    "unseen": "never seen in the counted stories: its chances come from smoothing alone",
    "point": "Point at a cell, or click it, to see how it was computed.",
    "start": "start",
    "largest": "largest sum",
    "from": "from",
    "before": "tag before",
    "score": "score of",
    "sum": "sum",
}

TABLES_TITLE = "The two tables"
TABLES_TEXT = (
    "Both tables are counts, made into probabilities. Smoothing adds a small number to every count "
    "first, so that what was never seen is improbable, but not impossible. Without smoothing, one "
    "new word would make every way of tagging a sentence impossible. The tags and the lattice "
    "above follow it. Click a cell."
)
TABLE = "Table"
TABLE_NAMES = {"transition": "Tag after tag", "emission": "Word of a tag"}
SMOOTHING = "Smoothing"
SMOOTHINGS = {"0.0001": "+ 0.0001", "0.01": "+ 0.01", "1": "+ 1"}
COUNTS, SMOOTHED, TOTAL, CHANCE = "counts", "counts + smoothing", "total", "probability"
ADDED = "smoothing"
COUNT_TRANSITION = "how often the tag in the column follows that in the row"
COUNT_EMISSION = "how often the word has the tag"
CHANCE_TRANSITION = "row ÷ its sum"
CHANCE_EMISSION = "÷ total"
TOTAL_EMISSION = "words of the tag + smoothing × {columns:,}"
START = "⟨start⟩"
BEFORE_AXIS, AFTER_AXIS, TAG_AXIS, WORD_AXIS = "tag before", "tag", "tag", "word"
EMISSION_CUT = "Here are the first {drawn} of {all:,} different words of this sentence. "
EMISSION_NOTE = (
    "The {columns:,} columns of the whole table are the {words:,} different words that were "
    "counted, and one for all words that were not."
)

SCORES_TITLE = "How often they are right"
SCORES_TEXT = (
    "The grammar wrote {stories} more stories that neither tagger has seen, and it knows the tag "
    "of each of their {words:,} words. `{command}` measured this, with a smoothing of "
    "{smoothing}. Rows are the true tags and columns the given ones: what lies off the diagonal is "
    "a mistake."
)
TAGGERS = {"hmm": "Counted tables", "transformer": "Transformer"}
TAGGER = "Tagger"
SCORES_READ = (
    "Right: {hmm} of all words by the tables, {transformer} by the transformer's vectors. Of the "
    "{ambiguous:,} words that have several tags in the counted stories: {hmm_ambiguous} and "
    "{transformer_ambiguous}. Of the {unseen:,} words that never stood in them: {hmm_unseen} and "
    "{transformer_unseen}. The transformer was trained on many more stories, and it may have read "
    "such a word there."
)
CONFUSION = "true tags and given tags"
CONFUSION_NOTE = "{count:,} of {all:,} words that are {true} were tagged {given}: {share}"
CONFUSION_SCALE = ("0 %", "100 % of the row")

TWICE_TITLE = "One word, two roles"
TWICE_TEXT = (
    "These words have more than one tag in the counted stories. Each is shown in two sentences, "
    "one for each of two tags, with what both taggers say."
)
TWICE_WORD = "Word"
TWICE_COLUMNS = ("sentence", "true tag", "counted tables", "transformer")
TWICE_READ = (
    "Right for {word}: the tables in {hmm} of these 2 sentences, the transformer in {transformer}. "
    "The tables know which tag follows which, and use it on both sides of the word. The "
    "transformer has read the word and everything before it, and nothing after it. Both taggers "
    "learned from these two sentences, too."
)

ASK_WAYS = (
    "At each cell Viterbi's algorithm compares the ways into it: one, from the start, at the first "
    "word, and one from every cell before it at the others. How many is that for {words} words "
    "with {tags} tags?"
)
ASK_WAYS_ANSWERS = (
    "{words} × {tags} = {each}",
    "{tags} + {rest} × {tags} × {tags} = {right}",
    "{tags} to the power of {words}: {all}",
)
ASK_WAYS_REASONS = (
    "That is the number of cells. Into each cell after the first word lead {tags} ways.",
    "The first word has {tags} cells with one way each. At each of the {rest} other words, {tags} "
    "cells each compare the ways from all {tags} cells of the word before.",
    "That is the number of ways through the whole lattice. Viterbi keeps only the best way into "
    "each cell.",
)
ASK_CONTEXT = (
    "In your text the tables tag {word} as {given}. That is not the tag that it has most often in "
    "the counted stories. Which one is?"
)
ASK_CONTEXT_RIGHT = (
    "It was counted {all}, and {times} of these it was {tag}. Viterbi's algorithm looks at the "
    "tags beside it, too: there stand {neighbours}."
)
ASK_CONTEXT_HERE = (
    "That is its tag here, beside {neighbours}. It was counted {all}, and {times} of these it was "
    "{tag}."
)
ASK_CONTEXT_OTHER = (
    "It was counted {all}, and {times} of these it was {tag}; it was {common} more often."
)
NEIGHBOUR = "{word} ({tag})"
