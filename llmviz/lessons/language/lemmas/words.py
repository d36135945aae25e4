"""All that the chapter "Lemmas" says. Names in braces are filled in with live numbers."""

TITLE = "The form that a dictionary lists"
TEXT = (
    "A stem is what is left after cutting. A [[lemma]] is a word: the form under which a "
    "dictionary lists all others, *go* for *went* and *goes*. It can be looked up, or made by "
    "rules that know the word's part of speech. Some words have two lemmas, and only the sentence "
    "says which one is meant. So each word is tagged first, by one of the two taggers of the "
    "chapter on parts of speech. Click a word."
)
TAGGER = "Tags by"
TAGGERS = {"hmm": "Counted tables", "transformer": "Transformer"}
GRID = "each word of the sentence with its tag, stem and lemmas"
ROWS = ("tag", "stem", "dictionary", "rule", "lemma")
NOTES = (
    "part of speech in this sentence: {tag}",
    "stem by Porter: the sentence is not looked at",
    "lemma by the dictionary, for the word alone",
    "by the rule {rule} for the tag {tag}",
    "the lemma: {why}",
)
NO_RULE = "no rule for the tag {tag} fits: the word stays as it is"
WHY = {
    "tag": "decided by the tag",
    "dictionary": "from the dictionary",
    "as it is": "the word itself",
}
UNKNOWN_MARK = "{word} ?"
CUT = "The table shows the first {drawn} of {all:,} words."
NO_LETTERS = (
    "Nothing in this text is a word with a letter or digit in it, so there is no lemma to find."
)
OPENED = {
    "tag": (
        "{word} is {tag} here. It is one of the words with several lemmas: {forms}. The tag "
        "decides: **{lemma}**. The dictionary, which sees the word alone, says {dictionary}."
    ),
    "dictionary": (
        "{word} is {tag} here. The dictionary lists it under **{lemma}**. The stem is {stem}, the "
        "rules give {rule}."
    ),
    "as it is": (
        "{word} is {tag} here, and **{lemma}** is its lemma. The stem is {stem}, the rules give "
        "{rule}."
    ),
}
FORM = "{lemma} as {tag}"
UNKNOWN = (
    "Words with a question mark are no words of the stories that the taggers learned from: "
    "{words}. Their tag is a guess from what stands around them."
)
RULES = (
    "Of {words} in this text, the rules and the lemma agree on {agree}. Rules know no exceptions "
    "such as *went*, and they do not know when a letter was doubled or an e was dropped."
)
TWICE_TITLE = "One word, two lemmas"
TWICE_TEXT = (
    "These words have a lemma for each part of speech. Put one of them into your sentence above "
    "in both roles and see whether each tagger tells them apart. Both learned from simple "
    "stories, so they can be wrong on sentences that look different."
)
TWICE_COLUMNS = ("word", "as", "lemma", "in your text")
TWICE_HERE = "{tag} → {lemma}"
HIDDEN = "?"
ANSWER_FIRST = "Answer the question above first."
ASK = "In your text, {word} is number {number} of the words. Which lemma has it there?"
ASK_RIGHT = "Yes: its tag is {tag}, and as {tag} its lemma is {lemma}."
ASK_WRONG = "That would be its lemma as {tag}."
ASK_STEM = "That is the stem by Porter, which does not look at the sentence."
