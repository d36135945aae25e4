"""All that the chapter "Names" says. Names in braces are filled in with live numbers."""

TITLE = "Who, where, when, what"
TEXT = (
    "To find names in a text, each word gets a tag of the [[BIO]] scheme. B- stands at the first "
    "word of a name, I- at the words that continue it, and O outside names. Here a name is a "
    "person, a place, a day or a thing; the colour and the size of a thing belong to its name. A "
    "linear layer on the story model's vectors gives the tags."
)
SOURCE = "Read"
SOURCES = {"story": "A story with known names", "text": "Your text"}
STORY = "Story"
ROWS = {"truth": "true tags", "tagger": "tagger", "yours": "with your changes"}
GRID = "the words with their BIO tags"
NOTE = "{tag}: {meaning}"
MEANINGS = {
    "O": "outside any name",
    "B": "the first word of a {kind}",
    "I": "goes on with a {kind}",
    "begins": "begins a {kind}, since no word of a {kind} stands right before it",
}
KINDS = {"PERSON": "person", "PLACE": "place", "DAY": "day", "THING": "thing"}
WRONG = " (the true tag is {truth})"
UNKNOWN_MARK = "{word} ?"
UNKNOWN = (
    "Words with a question mark are not in the grammar that wrote the model's stories: {words}. "
    "The model has never seen them in a story, so their tags are guesses from their letters and "
    "from the words before them."
)
ALL_KNOWN = "All words of this text are in the grammar that wrote the model's stories."
CUT = "The table and the scores have the first {drawn} of {all:,} words."
FOUND = "Names by these tags: {names}."
NONE_FOUND = "By these tags there is no name in this text."
NAME = "{words} ({kind})"

CHANGE = "Tag of {word}"
CHANGE_TEXT = (
    "Click a word in the table and give it another tag: both scores follow. Try it with the last "
    "word of a long name, for example."
)
CHANGE_UNSCORED = "Click a word in the table to give it another tag: the names follow."
UNDO = "Undo your changes"

SCORES_TITLE = "Two scores, and why they differ"
SCORES_TEXT = (
    "Word by word, a name of three words can be two thirds right. The score of whole names gives "
    "nothing for that: a name counts only if its first word, its last word and its kind are all "
    "right. A word that is O in truth and by the tags is left out of both scores: such words are "
    "many, and would hide the mistakes. Point at a cell to see how it is computed."
)
SCORE_ROWS = ("word by word", "whole names")
SCORE_COLUMNS = ("right", "given", "there", "precision", "recall", "F1")
SCORE_GRID = "both scores of this text"
SCORE_NOTES = (
    "{right} right",
    "{given} given by the tags",
    "{there} in truth",
    "right ÷ given = {right} ÷ {given} = {precision}",
    "right ÷ there = {right} ÷ {there} = {recall}",
    "2 × right ÷ (given + there) = 2 × {right} ÷ ({given} + {there}) = {f1}",
)
NONE_GIVEN = "nothing was given, so this is set to 0"
NONE_THERE = "there is nothing to find, so this is set to 0"
SAME = "To two digits, F1 is the same in both scores here: {f1}."
DIFFER = (
    "Word by word, F1 is {token}; for whole names it is {span}. A word of a name that gets O costs "
    "one word in the first score, and the whole name in the second. If other words of that name "
    "are still marked, they count as other names, which do not exist."
)
NO_TRUTH = (
    "Nobody has marked the right names in your own text, so there is no score. Choose *A "
    "story with known names* for one."
)
YOURS_IS_STORY = (
    "Your text could have been written by the stories' grammar, so its names are known."
)

BUNDLED_TITLE = "On many stories"
BUNDLED_TEXT = "The tagger on {stories} held-out stories, as `{command}` measured it: F1 by kind."
BUNDLED_COLUMNS = ("word by word", "whole names", "names")
BUNDLED_ALL = "all"
BUNDLED_GRID = "F1 of each kind of name"

ASK = (
    "In this text {name} is one name of {length} words. Suppose that all tags are right, but the "
    "last word of this name gets O. How many of {names} still count as right?"
)
ASK_ALL = "All {there}"
ASK_ONE_LESS = "{less}: one name fewer"
ASK_REASON = (
    "The tags now mark a shorter name, which is wrong as a whole: {right} of {there} are right. "
    "Word by word {token_right} of {token_there} words are right."
)
ASK_LESS = "{less}: the mistake spoils the whole story"
