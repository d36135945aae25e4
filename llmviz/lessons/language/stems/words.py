"""All that the chapter "Stems" says. Names in braces are filled in with live numbers."""

TITLE = "Cutting endings off"
TEXT = (
    "To find a text about *connection*, a search should also find *connected* and *connecting*. A "
    "stemmer cuts such words down to one [[stem]]. Porter's algorithm of 1980 does it with {rules} "
    "rules in {steps} small steps, named 1a to 5b, and with no dictionary. Each column is one of "
    "your words and each row is a step. Click a cell: the rule that was looked at opens below."
)
FORMS = "Your words"
FORMS_DEFAULT = "relational hopping flies happily agreed feed sized university universe troubles"
EMPTY = "There is no word yet. Type some words above."
MOST = "The table shows the first {drawn} of {all:,} different words."
CUT = "Your text has {all:,} characters. The first {limit:,} of them are read here."
OTHER_LETTERS = (
    "Porter's algorithm knows the letters a to z. Every other sign counts as a consonant here: "
    "{words}."
)
SHORT = (
    "By the paper's rules words of one or two letters are cut, too, as here {words}. Porter's own "
    "program leaves such words as they are."
)
GRID = "each word after each step of Porter's algorithm"
START_ROW = "word"
STEP_ROW = "step {name}"
SCALE = ("nothing changed", "a rule fired")
NOTE_START = "the word in small letters"
NOTE_NONE = "no rule of this step has a suffix that fits"
NOTE_HELD = "{rule}: the condition does not hold, nothing changes"
NOTE_FIRED = "{rule}: {before} becomes {after}"
NOTE_KEPT = "{rule}: {before} stays as it is, and no other rule of this step is tried"
NOTE_SKIPPED = "left out: it follows only if step 1b cut ed or ing"

OPENED = "{word}, step {name}"
OPENED_NONE = "No rule of this step (it has {rules}) has a suffix that {before} ends with."
OPENED_TRIED = (
    "{before} ends with the suffix of the rule {rule}. Before the suffix stands {stem}. Its "
    "letters are {forms} (c is a consonant, v is a vowel), so the [[measure]] is m = {measure}: "
    "that many times, a consonant follows a vowel. "
)
OPENED_EMPTY_STEM = (
    "{before} ends with the suffix of the rule {rule}. Nothing stands before the suffix, so the "
    "[[measure]] is m = 0. "
)
OPENED_WHOLE = (
    "The rule {rule} asks for no suffix: it looks at the whole of {before}. Its letters are "
    "{forms} (c is a consonant, v is a vowel), so the [[measure]] is m = {measure}: that many "
    "times, a consonant follows a vowel. "
)
RULE_DOUBLE = "({condition}) two equal letters → one"
RULE_ADDED = "({condition}) nothing → {replacement}"
OPENED_FIRED = "The condition {condition} holds, and {before} becomes {after}."
OPENED_HELD = "The condition {condition} does not hold, so nothing changes."
OPENED_EARLIER = "The rule {rule} comes first here, and its condition does not hold. "
OPENED_FREE = "The rule has no condition: {before} becomes {after}."
OPENED_FREE_SAME = (
    "The rule has no condition. It keeps {before} as it is, so that no other rule of this step can "
    "cut it."
)
OPENED_START = "Porter's algorithm begins with the word in small letters: {word}."
OPENED_SKIPPED = (
    "This part of step 1b repairs words that just lost *ed* or *ing*. {before} lost neither."
)
CONDITIONS = (
    "The letters a, e, i, o and u are vowels, and y is one where it follows a consonant. "
    "Conditions are written as in the paper. m is the measure. *v* means that there is a vowel. *d "
    "means that the end is a double consonant. *o means that the end is consonant, vowel, "
    "consonant, and that its last letter is not w, x or y. *S, *T, *L and *Z mean that the last "
    "letter is this one."
)
LETTERS = "letters before the suffix, consonant or vowel, and where vowel and consonant meet"
LETTER_ROWS = ("letter", "kind", "m so far")

BESIDE_TITLE = "Porter beside Snowball"
BESIDE_TEXT = (
    "Snowball's English stemmer is Porter's own later version, with repairs and a list of "
    "exceptions. Here it is the code of the library `snowballstemmer`. A stem need not be a word: "
    "it is only a name for a group."
)
BESIDE_COLUMNS = ("word", "Porter", "Snowball")
BESIDE_SAME = "They differ for none of {words}."
BESIDE_ONE_SAME = "Both make the same of this word."
BESIDE_ONE_DIFFERENT = "They differ for this word."
BESIDE_DIFFERENT = "They differ for {different} of {words}: {list}."
FAMILIES = "By Porter, some of these words share a stem: {families}."
NO_FAMILIES = "By Porter, no two of the words share a stem."

FAULTS_TITLE = "Cut too much, cut too little"
FAULTS_TEXT = (
    "Two faults are possible. Over-stemming: two words with different meanings get one stem, so a "
    "search for one finds the other. Under-stemming: two words of one family keep different stems, "
    "so a search misses one. The stems in the table are computed by both stemmers. Whether two "
    "words belong together was judged by hand, by what they mean."
)
FAULT_COLUMNS = (
    "words",
    "belong together?",
    "Porter",
    "fault of Porter",
    "Snowball",
    "fault of Snowball",
)
FAULT_NAMES = {"over": "over-stemming", "under": "under-stemming", "": "–"}
YES_NO = {True: "yes", False: "no"}
FAULTS_READ = (
    "Of these {pairs} pairs Porter has {porter_over} with over-stemming and {porter_under} with "
    "under-stemming, Snowball {snowball_over} and {snowball_under}. The pairs were chosen because "
    "they are hard for stemmers; they are no fair sample of English words."
)

ASKED = ("generalizations", "hopefulness", "relativity", "conditional", "organizers")
ASK_STEM = (
    "Work it out with the rules, or put the word into the box above: what does Porter's algorithm "
    "make of {word}?"
)
ASK_STEM_CHANGE = "In step {name}, {rule} makes it {after}."
ASK_STEM_NONE = "No rule fires: the word stays as it is."
ASK_STEM_WRONG = {
    "word": "That is the word itself. But rules fired: {steps}",
    "snowball": "That is the stem by Snowball.",
    "lemma": "That is the form in a dictionary. Porter's algorithm has no dictionary.",
    "first": "That is what it is after the first rule. More rules follow: {steps}",
}
