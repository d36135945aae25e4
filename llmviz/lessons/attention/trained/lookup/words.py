"""The words of "How the model finds who has what", in chapter "A trained model"."""

TITLE = "How the model finds who has what"
TEXT = (
    "Here is a story of tiny-world with two things in it. The question asks for one thing or for "
    "the other. Nothing else differs. In which heads do the weights move to other tokens when the "
    "question changes? These heads may be the ones that look up the answer. A test below shows "
    "whether they are. All weights are weights of the last token. The next token should be the "
    "name."
)
NEXT = "Another story"
OPEN = "Follow it in the tiles above"
BOTH = (
    "Asked for the {first}, the model gives {one} a probability of {p_one}, and {other} "
    "{wrong_one}. Asked for the {second}, it gives {other} {p_other}, and {one} {wrong_other}."
)
READS = "{head} has the most weight on the thing in the question: {share} on {thing}."
FINDS = (
    "In {head}, the weights on the story change most when the other thing is asked for: by {moved}."
)
HEAD = "head"
MOVES = "moves"
MOST = "{thing}?"
WHERE = "{token} {share}"
LINE = (
    "The table shows the {count} heads whose weights change most. For each question it has the "
    "token with the largest weight. “Moves” is half of the sum of the differences, over all tokens "
    "before the word that differs."
)
CHOOSE = "What a head looks at"
WEIGHT = "weight"
SAME_KEY = (
    "{token} is before the word that differs, so its key is the same for both questions. Only the "
    "query differs. Click another token to see its numbers."
)
OWN_KEY = (
    "{token} belongs to the question about the {thing}. The other question has other words here."
)
QUERY = "query of the last token"
KEY = "key of the token"
TERMS = "their products"
SCORE = "score, the sum"
SCALED = "scaled"
HIGHEST = "highest scaled score"
LESS = "minus the row's highest"
POWER = "e to that"
TOTAL = "sum over all tokens"
ASK = (
    "A test: the question is still about the {first}. But these {count} heads give the last token "
    "what they give it for the question about the {second}. Which of these names or tokens is the "
    "most probable now?"
)
ASK_GETS = "{name} gets {share}."
ASK_SAME = (
    "Of the two names, this name was more probable before, too. It was not enough here to change "
    "only these heads."
)
ASK_WHY = (
    "Only what these heads give was changed, and the answer changed with it.",
    "Only what these heads give was changed, and the answer changed with it. So here, these heads "
    "are enough to change the answer from one name to the other.",
    "Only what these heads give was changed, and now neither of the two names comes first.",
)
TEST = (
    "The question is about the {first}. These {count} heads give what they give for the {second}. "
    "Now the model gives {other} a probability of {p_other}, and {one} {p_one}."
)
NOT_LEARNT = (
    "For both questions, the same name is the more probable one. So here, the question about the "
    "other thing does not change which name is more probable."
)
