"""What the chapter on similarity says."""

TITLE = "How alike are two vectors?"
TEXT = (
    "Three measures answer this. The [[dot product]] multiplies the vectors number by number and "
    "adds up the products. The [[Euclidean distance]] is the length of the straight line between "
    "the two tips. The [[cosine similarity|cosine]] is the dot product after both vectors were "
    "brought to length 1. So only their directions count."
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
    "{word} has no row of its own in {name}. It is cut into {count}: {pieces}. You see the mean of "
    "their rows."
)
SENTENCE_MEAN = (
    "Here, the vector of a sentence is the mean of the rows of its tokens. The first sentence has "
    "{first}, the second has {second}."
)
SENTENCE_SAME = (
    "**Both sentences have the same tokens in another order, so their means are the same vector.** "
    "The order is lost: a mean does not show which word comes first. For this, a model needs "
    "positions and attention."
)
NUMBERS_TEXT = (
    "Type numbers with commas between them. In the example, somebody chose three numbers for each "
    "of three sentences. The first two sentences are about the same thing, the third is not."
)
VECTORS = {"A": "A", "B": "B", "products": "A × B", "gaps": "A − B", "squares": "(A − B)²"}
ROW_OF = "row {row:,}"
MEAN_OF = "mean of {count}"
TYPED_FORMULA = "typed"
STEPS_TITLE = "Number by number"
STEPS_TEXT = (
    "A and B have one cell for each of their {width} numbers. Below them are the products. Their "
    "sum is the dot product. Then come the differences and their squares. The sum of the squares "
    "is the distance squared."
)
SUMS_TITLE = "From the sums to the measures"
SUMS_TEXT = (
    "|A| is the length of A: the square root of its dot product with itself. The cosine is the dot "
    "product divided by both lengths. The distance is the square root of the sum of squared "
    "differences."
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
    "Two vectors always lie in one plane, even if they have many numbers. This is that plane. "
    "Lengths, angle and distance are the true ones."
)
PLANE_AXES = ("along A", "across A")
PLANE_WORDS = {"name": "A and B as arrows in their plane", "tip": "{name}: ({x}, {y})"}
GAP = "distance {distance:.3f}"
RANK = (
    "Is a cosine of {cosine} high? Of the {count:,} other tokens, {above:,} ({share}) have a "
    "higher cosine with {word} than {other} has."
)
LARGEST = (
    "The product that is farthest from 0 is number {column}: {a} × {b} = {product}. All {width} "
    "together add up to {dot}. Of these products, {positive} above 0."
)
ZERO = "Their distance and dot product still exist: see below."

ASK_DOUBLE = (
    "Multiply every number of A by 2, so that A is twice as long. What happens to the cosine {c}?"
)
ASK_DOUBLE_ANSWERS = ("it doubles", "it stays as it is", "it halves")
ASK_DOUBLE_REASONS = (
    "The dot product doubles, to {dot}, but so does |A|, to {length}: {dot} ÷ ({length} × {b}).",
    "It is still {c}. The dot product doubles to {dot} and |A| to {length}; the 2 cancels.",
    "That would be right if only |A| doubled. But the dot product doubles, too, to {dot}.",
)

# ---- spot the mistake

MISTAKE_TITLE = "Spot the mistake"
MISTAKE_TEXT = (
    "Somebody computed the cosine of v1 = ({v1}) and v2 = ({v2}) by hand and got **{reported}**. "
    "These were the lines:"
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
    "The division itself is right. But one of its lengths is wrong.",
)
MISTAKE_RIGHT = (
    "The cosine is **{cosine}**. A length that is too large by some factor makes the cosine too "
    "small by the same factor. Rounding a length changes the cosine, too: with both lengths "
    "rounded to {places} decimals it is {rounded}. {impossible}"
)
MISTAKE_ABOVE = (
    "{value} is more than 1, and no cosine can be more than 1. So round at the end, not before."
)

# ---- a list of words

LIST = "Words, with commas between them"
LIST_TEXT = (
    "Every word is compared with every other. A cell is the dot product of two rows that were "
    "brought to length 1. Open a cell to see all {width} products. The diagonal is 1, because each "
    "row points the same way as itself."
)
LIST_LABEL = "cosine"
UNIT = "unit rows"
LIST_FEW = "A list needs at least 2 words; there is {count}."
LIST_MANY = "A list may have {most} words; there are {count}."
LIST_SKIPPED = "Left out, because they have no row of their own: {words}."
LIKE = "similar: {word}"
LIST_PAIR = "{a} and {b} have a cosine of {high}."
LIST_PAIRS = (
    "The cosine is highest for {a} and {b}: {high}. It is lowest for {c} and {d}: {low}. The mean "
    "of all pairs is {mean}."
)
ASK_ODD = (
    "Take the mean of a word's cosines with all other words of the list. For which of these words "
    "is it lowest? Guess from the words alone."
)
ASK_ODD_REASON = "The mean of its cosines with the other words is {mean}."
ASK_ODD_RIGHT = "That is the lowest."

# ---- neighbours

WORD = "Word, or #id"
METRIC = "Measure"
METRICS = {"cosine": "cosine", "euclidean": "distance", "dot": "dot product"}
HOW_MANY = "How many"
NEIGHBOURS_TEXT = (
    "The row of {word} is compared with all {count:,} rows, one by one. The nearest rows come "
    "first. Compare the colours: where two rows have the same colour in a column, that column "
    "makes them more alike."
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
    "{count:,} tokens have rows that point nearly the same way (see “The table”). Nine in ten of "
    "their cosines lie between {low} and {high}."
)
SPREAD_TEXT = (
    "How near are these neighbours, compared with all other tokens? Half of the other tokens have "
    "a {metric} of {median} or less. The nearest has {best}."
)
METRICS_DIFFER = (
    "If {other} were the measure, {same} of these {k} would be among the {k} nearest. Dot product "
    "and distance also depend on the lengths of the rows. The cosine does not."
)
BESIDE = "In {name}, the nearest words are {words}. {why}"
BESIDE_WHY = (
    "The two tables were learned from different tasks. Word2vec learned which words are *near* "
    "each other in texts. A GPT learned to predict the next token, with layers after its table."
)
ASK_MANY = "How many of the {count:,} other tokens have a cosine above 0.5 with {word}?"
ASK_MANY_ANSWER = "{count:,}"
ASK_MANY_FEWER = "There are fewer: {right:,}, {share} of them."
ASK_MANY_MORE = "There are more: {right:,}, {share} of them."
ASK_MANY_FEW = (
    "It is {right:,}, {share} of them. The mean of all these cosines is {mean}: a cosine above 0.5 "
    "is rare here."
)
ASK_MANY_MANY = (
    "It is {right:,}, {share} of them. The mean of all these cosines is {mean}: a cosine above 0.5 "
    "is not rare here."
)

# ---- analogies

ANALOGY_TEXT = (
    "Take a row, subtract a second row, add a third. Suppose that the step from {b} to {c} is the "
    "same as the step from {a} to a fourth word. Then the fourth word lies where the sum ends: "
    "**{a} − {b} + {c}**."
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
INCLUDE = "Allow the three words as answers"
INCLUDE_HELP = (
    "Usually the three words themselves are left out, as in the first papers about analogies."
)
SUM_ROWS = ("word", "minus", "plus")
STEP = "word − minus"
SUM = "word − minus + plus"
UNIT_SUM = "the sum at length 1"
LENGTH = "its length"
CANDIDATES = "nearest rows"
BEST = "Nearest to the sum is {best}, with a cosine of {cosine}."
EXPECTED_RIGHT = "In tiny-world {b} goes with {c} as {a} goes with {expected}: right."
EXPECTED_WRONG = (
    "In tiny-world {b} goes with {c} as {a} goes with {expected}. Here {expected} is only number "
    "{rank:,}: other rows lie nearer to the sum."
)
SCORE = (
    "From {pairs} known pairs ({relation}), {count:,} analogies can be made. In {name}, **{right} "
    "of them are right**. If the three words are allowed as answers, {included} are right."
)
SCORE_TAKEN = (
    "The difference comes from analogies in which one of the three words lies nearer to the sum "
    "than the answer."
)
STEPS_ALIKE = (
    "Do all pairs make the same step? The cosine of two of these steps is {mean} on average; for "
    "random directions it would be near 0. So they share some direction."
)
STEPS_UNLIKE = (
    "Do all pairs make the same step? The cosine of two of these steps is {mean} on average; for "
    "random directions it would be near 0. So they share hardly any direction."
)
PLAIN_NONE = (
    "What if we take the row nearest to the first word, with no sum? That is never right, either. "
    "For these pairs, neither way finds an answer in this table."
)
PLAIN_ENOUGH = (
    "What if we take the row nearest to the first word, with no sum? That is right in {plain}. "
    "Here the sum does not help."
)
PLAIN_MOST = (
    "What if we take the row nearest to the first word, with no sum? That is right in {plain}, "
    "more than half as often as with the sum."
)
PLAIN_FEW = (
    "What if we take the row nearest to the first word, with no sum? That is right in {plain}, at "
    "most half as often as with the sum."
)
NO_PAIRS = (
    "In {have} of the {all} pairs of “{relation}”, both words have a row of their own in {name}. "
    "That is not enough to make analogies. Words that are cut into pieces have no single row."
)
USE_OTHER = "Take {name} instead: it knows {have} of the {all} pairs"
ASK_INCLUDED = "If {a}, {b} and {c} are allowed as answers, what is nearest to {a} − {b} + {c}?"
ASK_INCLUDED_REASON = "{word}: cosine {cosine} with the sum."
