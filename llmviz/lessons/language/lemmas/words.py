"""All that the chapter "Lemmas" says. Names in braces are filled in with live numbers."""

TITLE = "The form that a dictionary lists"
TEXT = (
    "A stem is what is left after cutting. A [[lemma]] is a word: the form under which a "
    "dictionary lists a word with all its forms, *go* for *went* and *goes*. It can be looked up, "
    "or made by rules that know the word's part of speech: noun, verb, adjective … Some words have "
    "two lemmas, and only the sentence says which one is meant. So one of two programs first gives "
    "each word a tag, the name of its part of speech. How they work is in the next chapter, *Parts "
    "of speech*. Click a word."
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
    "name": "names stay as they are",
}
UNKNOWN_MARK = "{word} ?"
CUT = "The table shows the first {drawn} of {all:,} words."
NO_LETTERS = (
    "Nothing in this text is a word with a letter or digit in it, so there is no lemma to find."
)
OPENED = {
    "tag": (
        "{word} is {tag} here. It is one of the words whose lemma depends on the tag: {forms}. So "
        "its lemma is **{lemma}**. The dictionary, which sees the word alone, says {dictionary}."
    ),
    "dictionary": (
        "{word} is {tag} here. By the dictionary its lemma is **{lemma}**. The stem is {stem}, the "
        "rules give {rule}."
    ),
    "as it is": (
        "{word} is {tag} here. The dictionary gives no other form, because this is the lemma or "
        "because it does not have the word, so **{lemma}** is taken. The stem is {stem}, the rules "
        "give {rule}."
    ),
    "name": (
        "{word} is {tag} here, a name. Names stay as they are: **{lemma}**. The stem is {stem}, "
        "the rules give {rule}."
    ),
}
FORM = "{lemma} as {tag}"
UNKNOWN = {
    "hmm": (
        "Words with a question mark are not in the stories that were counted: {words}. Their tags "
        "are guesses from their place in the sentence and from the tags beside them."
    ),
    "transformer": (
        "Words with a question mark are not in the grammar that wrote the model's stories: "
        "{words}. Their tags are guesses from their letters and from the words before them."
    ),
}
RULES = (
    "Of {words} in the table, the rules and the lemma agree on {agree}. These rules know no "
    "exceptions such as *went*, and they do not know when a letter was doubled or an e was dropped."
)
LEGEND = "Tags here: {tags}."
TWICE_TITLE = "One word, two lemmas"
TWICE_TEXT = (
    "The lemma of these words depends on the part of speech. Put one of them into your sentence "
    "above in both roles and see whether each tagger tells them apart. Both learned from simple "
    "stories, so they can be wrong on sentences that look different. And a tag does not decide "
    "everything: *saw* can also be a form of the verb *to saw*, for cutting wood. The table has "
    "one lemma for each tag."
)
TWICE_COLUMNS = ("word", "as", "lemma", "in your text")
TWICE_HERE = "{tag} → {lemma}"
HIDDEN = "?"
ANSWER_FIRST = "Answer the question above first."
ASK = (
    "In the table below, {word} is number {number} of the words. Which lemma does it get there, by "
    "the tag that it has in the table?"
)
ASK_RIGHT = "Yes: its tag is {tag}, and as {tag} its lemma is {lemma}."
ASK_WRONG = "That would be its lemma as {tag}."
ASK_STEM = "That is the stem by Porter, which does not look at the sentence."
