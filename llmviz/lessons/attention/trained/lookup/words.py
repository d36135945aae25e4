"""The words of "How it finds who has what", in chapter "A trained model"."""

TITLE = "How it finds who has what"
TEXT = (
    "A story of tiny-world with two things in it. The question asks for one or for the other: only "
    "that word differs. In some heads the weights stay on the same tokens, in others they move to "
    "another place. The heads that move may be those that look up the answer: a test below shows "
    "it. All weights are those of the last token, after which the name has to come."
)
NEXT = "Another story"
OPEN = "Follow it in the tiles above"
BOTH = (
    "Asked for the {first}, the model says {one} with {p_one} (and {other} with {wrong_one}); "
    "asked for the {second}, it says {other} with {p_other} (and {one} with {wrong_other})."
)
READS = "{head} has the most weight on the question's own word: {share} on {thing}."
FINDS = (
    "In {head} the weights move most: {moved} of them move to other tokens of the story when the "
    "other thing is asked for."
)
HEAD = "head"
MOVES = "moves"
MOST = "{thing}?"
WHERE = "{token} {share}"
LINE = (
    "The {count} heads whose weights move most, and for each question the token with the largest "
    "weight. What moves is half of the sum of the differences, over all tokens before the question."
)
CHOOSE = "What a head looks at"
WEIGHT = "weight"
SAME_KEY = (
    "{token} stands before the question, so its key is the same for both questions. Only the "
    "query differs. Click another token to see its numbers."
)
OWN_KEY = (
    "{token} belongs to the question about the {thing}; the other story has its own words here."
)
QUERY = "query of the last token"
KEY = "key of the token"
TERMS = "their products"
SCORE = "score, the sum"
SCALED = "scaled"
HIGHEST = "highest scaled score"
LESS = "less the row's highest"
POWER = "e to that"
TOTAL = "sum over all tokens"
ASK = (
    "A test: the question stays about the {first}, but the last token gets from these {count} "
    "heads what they give it when the {second} is asked for. What does the model say now?"
)
ASK_GETS = "{name} gets {share}."
ASK_SAME = "That was its answer before, too: changing these heads alone does not turn it here."
ASK_WHY = (
    "Only what these heads give was changed, and the answer changed with it.",
    "Only what these heads give was changed, and the answer changed with it: here these heads "
    "decide between the two names.",
    "Only what these heads give was changed, and now neither of the two names comes first.",
)
TEST = (
    "With the question about the {first}, but these {count} heads as for the {second}, the model "
    "gives {other} {p_other} and {one} {p_one}."
)
NOT_LEARNT = (
    "Of the two names it prefers the same one for both questions, so here its answer does not "
    "depend on which thing is asked for."
)
