"""What the chapter on similarity says."""

TITLE = "How alike are two vectors?"
TEXT = (
    "Three measures answer this. The [[dot product]] multiplies the vectors number by number and "
    "adds the products up. The [[Euclidean distance]] is the length of the straight line between "
    "the two tips. The [[cosine similarity|cosine]] is the dot product after both vectors were "
    "brought to length 1: only their directions count."
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
    "The vector of a sentence is here the mean of its tokens' rows. The first sentence has "
    "{first}, the second has {second}."
)
SENTENCE_SAME = (
    "**Both sentences have the same tokens in another order, so their means are one and the same "
    "vector.** The order is lost: a mean cannot say who chased whom. For that a model needs "
    "positions and attention."
)
NUMBERS_TEXT = (
    "Type numbers with commas between them. The example is three sentences with three numbers "
    "each, which somebody chose: the first two sentences are about the same thing, the third is "
    "not."
)
VECTORS = {"A": "A", "B": "B", "products": "A × B", "gaps": "A − B", "squares": "(A − B)²"}
ROW_OF = "row {row:,}"
MEAN_OF = "mean of {count}"
TYPED_FORMULA = "typed"
STEPS_TITLE = "Number by number"
STEPS_TEXT = (
    "A and B, one cell for each of their {width} numbers. Below them are the products: their sum "
    "is the dot product. Then come the differences and their squares: the sum of the squares is "
    "the distance squared."
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
    "Is a cosine of {cosine} much? Of the {count:,} other tokens, {above:,} have a higher one with "
    "{word} than {other} has ({share})."
)
LARGEST = (
    "The product that is farthest from 0 is number {column}: {a} × {b} = {product}. All {width} "
    "together add up to {dot}. Of these products, {positive} above 0."
)
ZERO = "Their distance and dot product still exist: see below."

ASK_DOUBLE = "Make A twice as long: every number of it times 2. What happens to the cosine {c}?"
ASK_DOUBLE_ANSWERS = ("it doubles", "it stays as it is", "it halves")
ASK_DOUBLE_REASONS = (
    "The dot product doubles, to {dot}, but so does |A|, to {length}: {dot} ÷ ({length} × {b}).",
    "It is still {c}. The dot product doubles to {dot} and |A| to {length}; the 2 cancels.",
    "It would if only |A| doubled; but the dot product doubles, too, to {dot}.",
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
    "The division is right; but it was given a wrong length.",
)
MISTAKE_RIGHT = (
    "The cosine is **{cosine}**. A length that is too large by some factor makes the cosine too "
    "small by the same factor. Rounding a length changes the cosine, too: with both lengths "
    "rounded to {places} decimals it is {rounded}. {impossible}"
)
MISTAKE_ABOVE = "{value} is more than 1, which no cosine can be: round at the end, not before."

# ---- a list of words

LIST = "Words, with commas between them"
LIST_TEXT = (
    "Every word with every other. A cell is the dot product of two rows that were brought to "
    "length 1: open it to see all {width} products. The diagonal is 1, because each row points the "
    "same way as itself."
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
    "The row of {word} is compared with all {count:,} rows, one by one. The nearest stand first. "
    "Compare the stripes: where two rows have the same colour in a column, that column makes them "
    "more alike."
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
    "{count:,} tokens have rows that point nearly the same way (see “The table”): nine in ten of "
    "their cosines lie between {low} and {high}."
)
SPREAD_TEXT = (
    "Where the neighbours stand among all other tokens: half of these have a {metric} of {median} "
    "or less, and the nearest has {best}."
)
METRICS_DIFFER = (
    "By {other} instead, {same} of these {k} would be among the nearest. Dot product and distance "
    "depend on the lengths of the rows, too; the cosine does not."
)
BESIDE = "In {name} the nearest are {words}. {why}"
BESIDE_WHY = (
    "The two tables were learned from different tasks. Word2vec learned which words stand *near* "
    "which. A GPT learned to predict the next token, with layers after its table."
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
    "Take a row, subtract another one, add a third. Let the step from {b} to {c} be the same as "
    "the step from {a} to some fourth word. Then that word lies where the sum ends: **{a} − {b} + "
    "{c}**."
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
    "In tiny-world {b} goes with {c} as {a} goes with {expected}. Here {expected} comes in place "
    "{rank:,} only: other rows lie nearer to the sum."
)
SCORE = (
    "Of all {count:,} analogies that can be made of {pairs} known pairs ({relation}), "
    "**{right} come out right** in {name}. If the three words may win too, {included} do."
)
SCORE_TAKEN = "The others are lost because one of the three lies nearer to the sum than the answer."
STEPS_ALIKE = (
    "Do all pairs make the same step? The cosine of two of these steps is {mean} on average; for "
    "random directions it would be near 0. So they share some direction."
)
STEPS_UNLIKE = (
    "Do all pairs make the same step? The cosine of two of these steps is {mean} on average; for "
    "random directions it would be near 0. So they share hardly any direction."
)
PLAIN_NONE = (
    "What if we take the nearest row to the first word, with no sum? That is never right, either. "
    "For these pairs neither way finds an answer in this table."
)
PLAIN_ENOUGH = (
    "What if we take the nearest row to the first word, with no sum? That is right in {plain}: "
    "here the sum does not help."
)
PLAIN_MOST = (
    "What if we take the nearest row to the first word, with no sum? That is right in {plain}, "
    "more than half as often as with the sum."
)
PLAIN_FEW = (
    "What if we take the nearest row to the first word, with no sum? That is right in {plain}, at "
    "most half as often as with the sum."
)
NO_PAIRS = (
    "In {name}, both words have a row of their own in {have} of the {all} pairs of “{relation}”: "
    "too few to ask. Words that are cut into pieces have no single row."
)
USE_OTHER = "Take {name} instead: it knows {have} of the {all} pairs"
ASK_INCLUDED = "If {a}, {b} and {c} may win too, what is nearest to {a} − {b} + {c}?"
ASK_INCLUDED_REASON = "{word}: cosine {cosine} with the sum."
