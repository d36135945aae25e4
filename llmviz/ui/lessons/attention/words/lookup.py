"""The words of "How it finds who has what", in chapter "A trained model"."""

TITLE = "How it finds who has what"
TEXT = (
    "A story of tiny-world with two things in it, asked for one or for the other: only that word "
    "differs. Heads whose weights stay where they were have other work, such as reading the "
    "question; those whose weights move to another place look for the answer. All of this is what "
    "the last token asks, the one after which the name has to come."
)
NEXT = "Another story"
OPEN = "Follow it in the tiles above"
BOTH = (
    "Asked for the {first}, the model says {one} with {p_one} (and {other} with {wrong_one}); "
    "asked for the {second}, it says {other} with {p_other} (and {one} with {wrong_other})."
)
READS = "The question itself is read most by {head}: {share} of its weight is on {thing}."
FINDS = (
    "The weights of {head} move most: {moved} of them lie elsewhere in the story when the other "
    "thing is asked for."
)
HEAD = "head"
MOVES = "moves"
MOST = "{thing}?"
WHERE = "{token} {share}"
LINE = (
    "The {count} heads whose weights move most, and for each question the token that gets most of "
    "them."
)
TEST = (
    "The test: leave the question as it is, and put in what these {count} heads give the last "
    "token when the {second} is asked for. Nothing else is touched, and the model says {other} "
    "with {p_other} and {one} with {p_one}."
)
NOT_LEARNT = (
    "It gives both questions the same answer, so it has not asked which thing was meant: a short "
    "cut, not a look-up."
)
