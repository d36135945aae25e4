"""What all chapters of this lesson say about the learner's name."""

NAME = "A name"
NAME_HELP = "Letters a to z. Capital letters are read as small ones."
CUT = "These models know the letters a to z only. Left out: {cut}."
EMPTY = "There is no letter from a to z yet. Type a name above."
LONG = "The name has {all} letters. The first {limit} are used."
END = "."  # how the start and the end of a name are drawn
