"""What the chapter on similarity says."""

TITLE = "How alike are two vectors?"
TEXT = (
    "Three measures answer that, and all three are made of the same products. The [[dot product]] "
    "multiplies number by number and adds up. The [[Euclidean distance]] is the straight line "
    "between the two tips. The [[cosine similarity|cosine]] is the dot product after both were "
    "brought to length 1: it looks at directions alone."
)
LOOK = "What to compare"
LOOKS = {
    "pair": "Two vectors",
    "list": "A list of words",
    "neighbours": "Neighbours",
    "analogy": "Analogies",
}

# ---- two vectors

KIND = "Vectors from"
KINDS = {"words": "Words", "sentences": "Sentences", "numbers": "Numbers you type"}
FIRST, SECOND = "First word", "Second word"
SENTENCES = ("First sentence", "Second sentence")
TYPED = ("v1", "v2", "v3")
PAIRS = {"12": "v1 and v2", "13": "v1 and v3", "23": "v2 and v3"}
PAIR = "Compare"
EXAMPLE = "The three sentences"
MEAN = (
    "{word} has no row of its own in {name}. Its {count} have one: {pieces}. You see the mean "
    "of their rows."
)
SENTENCE_MEAN = (
    "The vector of a sentence is here the simplest there is: the mean of its tokens' rows, "
    "{first} in the first sentence and {second} in the second."
)
SENTENCE_SAME = (
    "**Both sentences have the same tokens in another order, so their means are one and the same "
    "vector.** A mean does not know who chased whom. Positions and attention are there to mend "
    "that."
)
NUMBERS_TEXT = (
    "Type numbers with commas between them. You begin with three sentences that somebody gave "
    "three numbers each: the first two are about the same thing, the third is not."
)
VECTORS = {"A": "A", "B": "B", "products": "A × B", "gaps": "A − B", "squares": "(A − B)²"}
ROW_OF = "row {row:,}"
MEAN_OF = "mean of {count}"
TYPED_FORMULA = "typed"
STEPS_TITLE = "Number by number"
STEPS_TEXT = (
    "A and B, one cell for each of their {width} numbers. Below them the products, whose sum is "
    "the dot product, then the differences and their squares, whose sum is the distance squared."
)
SUMS_TITLE = "From the sums to the measures"
SUMS_TEXT = (
    "|A| is the length of A, the root of its product with itself. The cosine is the dot product "
    "divided by both lengths; the distance is the root of the sum of squared differences."
)
SUMS_LINE = "cosine = `{dot} ÷ ({a} × {b}) = {cosine}`"
LABELS = {
    "AA": "A·A",
    "BB": "B·B",
    "a": "|A|",
    "b": "|B|",
    "dot": "A·B",
    "ab": "|A|·|B|",
    "cosine": "cosine",
    "sum": "Σ (A − B)²",
    "distance": "distance",
}
DOT, DISTANCE, COSINE = "Dot product", "Distance", "Cosine"
ANGLE_LABEL = "Angle"
ANGLE = "{angle:.1f}°"
PLANE = (
    "Two vectors always lie in one plane, however many numbers they have. This is that plane: "
    "lengths, angle and distance are the true ones."
)
PLANE_AXES = ("along A", "across A")
PLANE_WORDS = {"name": "A and B as arrows in their plane", "tip": "{name}: ({x}, {y})"}
GAP = "distance {distance:.3f}"
RANK = (
    "Is a cosine of {cosine} much? Of all {count:,} tokens, {above:,} are more like {word} than "
    "{other} is ({share})."
)
LARGEST = (
    "The largest single product is number {column}: {a} × {b} = {product}. The {width} products "
    "add up to {dot}; {positive} of them are positive."
)
ZERO = "Their distance and dot product exist all the same: they are below."

ASK_DOUBLE = "Make A twice as long: every number of it times 2. What becomes of the cosine {c}?"
ASK_DOUBLE_ANSWERS = ("it doubles", "it stays as it is", "it halves")
ASK_DOUBLE_REASONS = (
    "The dot product doubles, to {dot}, but so does |A|, to {length}: {dot} ÷ ({length} × {b}).",
    "It is {c} still. The dot product doubles to {dot} and |A| to {length}; the 2 cancels.",
    "It would if only |A| grew; the dot product grows with it, to {dot}.",
)

# ---- spot the mistake

MISTAKE_TITLE = "Spot the mistake"
MISTAKE_TEXT = (
    "Somebody worked out the cosine of v1 = ({v1}) and v2 = ({v2}) by hand and reported "
    "**{reported}**. The lines were these:"
)
MISTAKE_LINES = (
    "v1·v2 = {products} = {dot}",
    "|v1| = √({squares_a}) = √{sum_a} = {wrong}",
    "|v2| = √({squares_b}) = √{sum_b} = {norm_b}",
    "cosine = {dot} ÷ ({wrong} × {norm_b}) = {reported}",
)
MISTAKE_ASK = "In which line is the mistake?"
MISTAKE_LINE = "line {number}"
MISTAKE_REASONS = (
    "Add the products again: {products} is {dot}. This line is right.",
    "√{sum_a} is {norm_a}, not {wrong}: {wrong} squared would be {squared}.",
    "√{sum_b} is {exact_b}, which rounds to {norm_b}. This line is right.",
    "The division is right; it was given a wrong length.",
)
MISTAKE_RIGHT = (
    "The cosine is **{cosine}**. A length that is too large by some factor makes the cosine too "
    "small by the same factor. Rounding does that, too: with both lengths rounded to {places} "
    "decimals it comes out as {rounded}. {impossible}"
)
MISTAKE_ABOVE = "{value} is more than 1, which no cosine can be: round at the end, not before."

# ---- a list of words

LIST = "Words, with commas between them"
LIST_TEXT = (
    "Every word with every other. A cell is the product of two rows that were brought to length 1: "
    "open it and all {width} products stand there. The diagonal is 1, since nothing is more like "
    "a word than itself."
)
LIST_LABEL = "cosine"
UNIT = "unit rows"
LIST_FEW = "A list needs at least 2 words; there is {count}."
LIST_MANY = "A list may have {most} words; there are {count}."
LIST_SKIPPED = "Left out, because they have no row of their own: {words}."
LIKE = "like it: {word}"
LIST_PAIR = "{a} and {b} have a cosine of {high}."
LIST_PAIRS = (
    "Most alike are {a} and {b} with {high}; least alike {c} and {d} with {low}. The mean of all "
    "pairs is {mean}."
)
ASK_ODD = (
    "Which of these words is least like the others of the list: whose cosines with them have the "
    "lowest mean? Guess from the words alone."
)
ASK_ODD_REASON = "The mean of its cosines with the others is {mean}."
ASK_ODD_RIGHT = "That is the lowest."

# ---- neighbours

WORD = "Word, or #id"
METRIC = "Measure"
METRICS = {"cosine": "cosine", "euclidean": "distance", "dot": "dot product"}
HOW_MANY = "How many"
NEIGHBOURS_TEXT = (
    "All {count:,} rows are compared with that of {word}, one by one; nothing is left out or "
    "guessed. The nearest stand first. The stripes show why: where a neighbour has the same "
    "colours in the same columns, their products are large."
)
TARGET = "the word"
UNIT_FORMULA = "brought to length 1"
NO_NEIGHBOURS = "There is no other row to compare with."
FOUND = "nearest rows"
MEASURED = {"cosine": "cosine", "euclidean": "distance", "dot": "dot product"}
DIFFERENCE = "differences"
WALK = "Go on from one of them:"
UNDEFINED = "{count:,} rows are zero and have no cosine."
SPREAD_AXIS = {
    "cosine": "cosine with {word}",
    "euclidean": "distance from {word}",
    "dot": "dot product with {word}",
}
SPREAD_MARKS = "the {k} nearest"
SPREAD_COUNT = "tokens"
SPREAD_WORDS = {
    "name": "how many tokens have which value; arrow keys go from bar to bar",
    "bar": "{from} to {to}: tokens {count}",
}
SPREAD_CROWD = (
    "The tall bar holds {count:,} tokens whose rows point nearly the same way (see “The table”)."
)
SPREAD_TEXT = (
    "Where the neighbours stand among all tokens: half of them have a {metric} {side} {median}, "
    "and the nearest has {best}."
)
SIDES = {"cosine": "below", "dot": "below", "euclidean": "above"}
METRICS_DIFFER = (
    "By {other} instead, {same} of these {k} would be among the nearest. The dot product grows "
    "with the lengths of the rows, and a difference in length makes the distance larger; the "
    "cosine does not depend on length."
)
BESIDE = "In {name} the nearest are {words}. {why}"
BESIDE_WHY = {
    True: (
        "Word2vec learned which words stand *near* which. An animal and its sound are told in the "
        "same sentences, so both have mostly the same words around them, and that gives them alike "
        "vectors. A GPT's table was learned to predict the next token instead, with layers in "
        "between."
    ),
    False: (
        "A GPT's table was learned to predict the next token, with layers in between. Word2vec "
        "learned which words stand *near* which: two words with the same words around them get "
        "alike vectors."
    ),
}
ASK_MANY = "How many of the {count:,} other tokens have a cosine above 0.5 with {word}?"
ASK_MANY_ANSWER = "{count:,}"
ASK_MANY_FEWER = "There are fewer, {right:,}: look at the picture of all cosines below."
ASK_MANY_MORE = "There are more, {right:,}: look at the picture of all cosines below."
ASK_MANY_FEW = (
    "It is {right:,}, {share} of them. The mean of all these cosines is {mean}: a cosine above 0.5 "
    "is rare here."
)
ASK_MANY_MANY = (
    "It is {right:,}, {share} of them. The mean of all these cosines is {mean}: a cosine above 0.5 "
    "is nothing rare here."
)

# ---- analogies

ANALOGY_TEXT = (
    "Take a row, take another one away, add a third. If the step from {b} to {c} is the same step "
    "as from {a} to something, that something should lie where the sum ends: **{a} − {b} + {c}**."
)
THREE = ("Word", "minus", "plus")
RELATION = "Known pairs of tiny-world"
RELATIONS = {
    "pairs": "he and she",
    "capitals": "country and capital",
    "sounds": "animal and sound",
    "opposites": "opposites",
}
ANOTHER = "Another example"
INCLUDE = "The three words may win too"
INCLUDE_HELP = "Usually the three words themselves are no candidates, as in the first papers."
SUM_ROWS = ("word", "minus", "plus")
STEP = "word − minus"
SUM = "word − minus + plus"
UNIT_SUM = "the sum at length 1"
LENGTH = "its length"
CANDIDATES = "nearest rows"
BEST = "Nearest to the sum is {best}, with a cosine of {cosine}."
EXPECTED_RIGHT = "In tiny-world {b} goes with {c} as {a} goes with {expected}: right."
EXPECTED_WRONG = (
    "In tiny-world the answer is {expected}, which comes in place {rank:,}. The step from {b} to "
    "{c} is not the step from {a} to {expected} here."
)
SCORE = (
    "Of all {count:,} analogies that can be made of {pairs} known pairs ({relation}), "
    "**{right} come out right** in {name}. If the three words may win too, {included} do."
)
SCORE_TAKEN = "Where one is lost, one of the three lies nearer to the sum than the answer."
STEPS_ALIKE = (
    "The steps from one half of a pair to the other point much the same way: their cosine is "
    "{mean} on average over all pairs of steps."
)
STEPS_UNLIKE = (
    "The steps from one half of a pair to the other hardly point the same way: their cosine "
    "is {mean} on average over all pairs of steps."
)
PLAIN_NONE = (
    "With no sum at all, the plain neighbour of the first word is not right once, either: for "
    "these pairs neither nearness nor the step finds the answer in this table."
)
PLAIN_ENOUGH = (
    "And with no sum at all, the plain neighbour of the first word is the right answer in "
    "{plain}: the step helps nothing here."
)
PLAIN_MOST = (
    "And with no sum at all, the plain neighbour of the first word is the right answer in "
    "{plain}: here it is mostly nearness that solves analogies, not direction."
)
PLAIN_FEW = (
    "With no sum at all, the plain neighbour of the first word would be right in {plain} only: "
    "here the step makes the difference."
)
NO_PAIRS = (
    "{name} has a row of its own for both words of {have} of the {all} pairs of “{relation}”, too "
    "few to ask. Words that are cut into pieces have no single row."
)
USE_OTHER = "Take {name} instead: it knows {have} of the {all} pairs"
ASK_INCLUDED = "If {a}, {b} and {c} may win too, what is nearest to {a} − {b} + {c}?"
ASK_INCLUDED_REASON = "{word}: cosine {cosine} with the sum."
