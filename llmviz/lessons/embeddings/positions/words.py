"""What the chapter on positions says."""

TITLE = "Where a token stands"
TEXT = (
    "A row of the embedding table is the same wherever the word stands, and one layer of "
    "[[attention]] gives the same result in whatever order the earlier words stand. So most models "
    "are given the place. Three ways are shown here: add waves computed by a formula, add a table "
    "that was learned, or turn queries and keys by an angle. There are others, such as a number "
    "for each distance that is added to the attention scores (T5, ALiBi)."
)
WAY = "How positions are told"
WAYS = {"sinusoidal": "Sinusoidal", "learned": "Learned", "rotary": "Rotary"}
ABOUT = {
    "sinusoidal": (
        "**Every column is a wave**, sine and cosine in turn, from quick on the left to slow on "
        "the right. Number 2i of position p is `sin(p / base^(2i/C))`, number 2i + 1 the cosine of "
        "the same angle; point at a cell to see its own. The row of a position is added to the "
        "token's row. Positions of this kind are called *absolute*: each place has a vector. (For "
        "a cosine between two of them only the distance counts.)"
    ),
    "learned": (
        "**Every position has a row of its own**, made of numbers that were random once and were "
        "learned with all the others. The row is added to the token's row. These positions are "
        "*absolute*, too. After the last row the table ends."
    ),
    "rotary": (
        "**Nothing is added.** The numbers of each query and key are taken in pairs, and each pair "
        "is turned by an angle that grows with the position: quickly for the first pair, slowly "
        "for the last. The picture shows cosines (left half) and sines (right half) of the angles. "
        "These positions are *relative*: a score depends on how far query and key are apart, not "
        "on where the two stand."
    ),
}
LENGTH = "Positions"
WIDTHS = {"sinusoidal": "Numbers in a vector", "rotary": "Numbers in a query"}
BASE = "Base of the wavelengths"
MODEL = "Positions of"
NO_TABLE = "No model with learned positions is in this copy."

VIEW = {
    "position": "position",
    "distance": "distance",
    "label": "Table of positions; arrow keys move, the column and the row are drawn as curves",
    "said": "position {row}, column {column}: {value}",
    "wave": "position {row}, column {column}: {wave}({row} / {base}^({twice}/{width})) = "
    "{wave}({row} / {scale}) = {wave}({angle}) = {value}",
    "curve": "column {column} over all positions",
}
VIEWS = {
    "sinusoidal": {
        "column": "number",
        "alike": "cosine of position {row} with every other",
    },
    "learned": {
        "column": "number",
        "alike": "cosine of position {row} with every other",
    },
    "rotary": {
        "column": "cosines, then sines, of each pair",
        "alike": "score of position {row} with every other, query and key all equal",
    },
}
WAVE = {
    "sinusoidal": (
        "Column {column} comes back to where it was after {length:,.1f} positions: {times:.1f} "
        "times in this table. The slowest one takes {slowest:,.0f}."
    ),
    "rotary": (
        "Column {column} makes a full turn in {length:,.1f} positions: {times:.1f} of them in this "
        "table. The slowest pair takes {slowest:,.0f}."
    ),
}
ALIKE = {
    "sinusoidal": (
        "Two neighbours have a cosine of {near}, positions {distance} apart {far}. **That "
        "depends on the distance alone**: at equal distance it differs by {spread} at most, "
        "wherever the two stand. And for every distance there is one matrix that turns the row of "
        "any position into the row that far behind it."
    ),
    "learned": (
        "Neighbours have a cosine of {near} on average, positions {distance} apart {far}. "
        "Nobody set these numbers, training did. At equal distance the cosine differs by up to "
        "{spread} from place to place: it does not depend on the distance alone."
    ),
    "rotary": (
        "Neighbours score {near}, positions {distance} apart {far}. **That depends on the "
        "distance alone**: at equal distance it differs by {spread} at most."
    ),
}
A_MILLIONTH = "less than a millionth"
ASK = "After how many positions is the quickest wave, the first column, back where it was?"
ASK_RIGHT = "After 2π = {length:.2f}: the first pair moves on by an angle of 1 a position."
ASK_WIDTH = {
    "sinusoidal": (
        "{c} is how many columns there are: {half} wavelengths, a sine and a cosine of each. It "
        "does not say how long the waves are."
    ),
    "rotary": (
        "{c} is how many numbers a query has, {half} pairs. It does not say how fast they turn."
    ),
}
ASK_SLOW = "{length:,.2f} positions is the length of the slowest wave, that of the last pair."

# ---- added

ADD_TITLE = "Token + position = what the model reads"
ADD_TEXT = {
    "learned": (
        "Every number of the input is a sum of two. The model computed all three tables a moment "
        "ago; click a cell of the last one."
    ),
    "sinusoidal": (
        "Every number of the input is a sum of two. The bundled models learned their positions; "
        "waves would be added in just the same way. Click a cell of the last table."
    ),
}
SENTENCE = "Sentence"
FROM = "First column shown"
NO_WORDS = "There are no words yet; type a sentence above."
TOKEN = "token"
POSITION = "position"
INPUT = "input"
NO_WORD_TWICE = "No word stands twice in this sentence. Repeat one and compare it with itself."
SAME_WORD = (
    "**{word} stands at {i} and at {j}.** Its token row is the same both times (distance "
    "{before:.0f}). With the positions added, the two inputs are {after:.3f} apart and their "
    "cosine is {cosine:.3f}: now the model can tell the one from the other."
)

# ---- turned

TURN_TITLE = "Turned, not added"
TURN_TEXT = (
    "The first {d} numbers of two words' rows stand here for a query and a key. Number i and "
    "number i + {half} make a pair. Move both words on by the same number of positions and watch "
    "the score."
)
ASKS = "Query of"
ANSWERS = "Key of"
AT = "at position"
AT_TOO = "at position (key)"
SHIFT = "Move both on by"
TURN_LABELS = {
    "x": "{x}",
    "cos": "cos at {at}",
    "straight": "{x} × cos",
    "half": "{x}: halves swapped, the new first one negated",
    "sin": "sin at {at}",
    "across": "swapped × sin",
    "turned": "{x}, turned: the sum",
    "score": "score: the dot product",
}
TURNED = (
    "{q} at {m} asks {k} at {n}: the score is **{score}**. At {m2} and {n2} it is "
    "**{score2}**. What counts is that {apart}."
)
APART = {
    -1: "the key stands {n} behind the query",
    0: "both stand at the same place",
    1: "the key stands {n} before the query",
}

# ---- the shuffle test

SHUFFLE_TITLE = "The shuffle test"
SHUFFLE_TEXT = (
    "Two models were trained in the same way, on the same stories, in the same order, with one "
    "layer each. One has a table of positions, the other has none. Both predict what follows the "
    "same words, first as they stand, then shuffled. The last word stays last: the prediction is "
    "made from it."
)
NO_PAIR = "The two models are not in this copy. These commands make them, in some minutes each:"
NO_PAIR_COMMAND = "python -m llmviz checkpoints make {name}"
PROMPT = "Words"
SHUFFLE = "Shuffle"
AS_IT_IS = "As they were"
UNKNOWN = "The models have never seen {n} of these and read <|unk|> there."
TOO_LONG = "The models read the last {n} words of it."
TOO_SHORT = "Type at least three words: the last stays, the others are shuffled."
ORDERS = ("as written", "shuffled")
NEXT_AXIS = "probability of the next word"
MODELS = ("with positions", "without positions")
MOVED = (
    "In this order {with_} of the probability moved to other words in the model with positions, "
    "and {without} in the one without."
)
UNMOVED = "This draw left the words in their order. Shuffle once more."
AS_WRITTEN = (
    "So far both models have read the words as written. Answer the question above, then press "
    "“Shuffle” and see whether you were right."
)
MANY = "Over {n} orders: {with_} on average with positions, {without} without."
NOTHING = "nothing"
LOSSES = (
    "On stories that neither has seen, positions bring the loss from {without:.3f} to {with_:.3f} "
    "[[nats]] a word. That is little: which words came before, and which was the last, is enough "
    "for nearly the same loss on these stories."
)
PROBES = (
    "It is more where order decides. Asked for the opposite of a word, as in the words above, the "
    "model with positions is right in {with_} of {n} probes, the one without in {without}; random "
    "choice is right in half of them."
)
WHY = (
    "Without positions, attention adds up the values of the words before, and a sum is the same in "
    "every order. With a second layer a model can get some of the order back: the [[causal mask]] "
    "lets each word see only what came before it, so what the first layer writes into a word "
    "depends on how many and which words those were."
)
ASK_SHUFFLE = (
    "The model without positions reads the same words in another order; the last one stays last. "
    "What happens to its prediction?"
)
ASK_SHUFFLE_ANSWERS = (
    "It stays exactly the same",
    "It changes a little",
    "It becomes nonsense",
)
ASK_SHUFFLE_REASONS = (
    "One layer, no positions: the last word gathers the same values with the same weights, in "
    "whatever order they come.",
    "Attention has nothing to tell the order by: not a single number changes, but for rounding.",
    "For this model the order of the words before the last makes no difference.",
)

# ---- spot the mistake

MISTAKE_TITLE = "Spot the mistake"
MISTAKE_TEXT = (
    "Somebody computed the row of position {position} of a sinusoidal table with {width} columns. "
    "The four numbers are computed correctly from these formulas, but the formulas are not all "
    "right:"
)
MISTAKE_LINE = "column {column}: {wave}({position} / {base}^({column}/{width})) = {value}"
MISTAKE_ASK = "In which columns is the exponent wrong?"
MISTAKE_ANSWERS = ("0 and 2", "1 and 3", "2 and 3", "in all four")
MISTAKE_REASONS = (
    "In even columns the exponent is column / {width}: these two are right.",
    "A sine and the cosine next to it share one angle, so the exponent is 2i/{width} in both "
    "columns of pair i. Columns 1 and 3 need the exponents 0/{width} and 2/{width}: {right_1} and "
    "{right_3}.",
    "Column 2 begins pair 1, so its exponent 2/{width} is right.",
    "The exponents of columns 0 and 2 are right: each begins a pair.",
)

# ---- longer texts

LONGER_TITLE = "A text longer than any in training"
LONGER_TEXT = (
    "A model is trained on texts of a limited length. What happens behind the last place of "
    "training depends on how positions are told."
)
ASK_LONGER = (
    "Which kind has no numbers at all for a place that is one further than any in training?"
)
ASK_LONGER_ANSWERS = ("Sinusoidal", "Learned", "Rotary")
ASK_LONGER_REASONS = (
    "Its formula gives a row for every position, however large.",
    "A learned table has as many rows as there were places in training. There is no next one.",
    "An angle can be computed for every position, however large.",
)
LONGER_KINDS = (
    "**Learned:** no row is left. A model must stop, or drop the beginning and read its last words "
    "only, as this app does. **Sinusoidal:** the next row can be computed, but no layer learned "
    "from it. **Rotary:** every angle can be computed, and scores between near words are what they "
    "were; only distances larger than in training are new. **None:** nothing ends, but each word "
    "attends to more words than it ever did. That numbers exist does not mean that a model can use "
    "them: that has to be measured."
)
LONGER_MEASURED = (
    "Measured a moment ago on the two models of the shuffle test, which were trained on texts of "
    "{context} tokens: they read new stories of {times} tokens. The model with learned positions "
    "was given rows of random numbers for the places that it has none for. The table shows the "
    "mean loss in [[nats]] a token. (No model that comes with the app has sinusoidal or rotary "
    "positions.)"
)
LONGER_MODEL = "model"
LONGER_INSIDE = "positions {start} to {end}"
LONGER_BEYOND = "positions {start} to {end}, new"
LONGER_FAR = "positions {start} to {end}, new"
LONGER_LAST = "the new ones, last {context} tokens read"
LONGER_LEARNED = (
    "The model with learned positions has a loss of {inside:.2f} inside. Right behind that it is "
    "{first} ({beyond:.2f}), at the end {last} ({far:.2f})."
)
LONGER_NONE = (
    "The model without positions has {inside:.2f} inside, right behind that {first} "
    "({beyond:.2f}), at the end {last} ({far:.2f})."
)
LONGER_HOW = ("higher", "lower", "about the same")

SNIPPET = """
import torch

from llmviz.nn.positions import sinusoidal_positions, sinusoidal_shift, turned

generator = torch.Generator().manual_seed(0)
q, k = torch.randn(2, 1, {c}, generator=generator, dtype=torch.float64)


def score(m, n):
    at = torch.tensor([m, n], dtype=torch.float64)
    return float(turned(q, at[:1], {base}) @ turned(k, at[1:], {base}).T)


print(f"{{score(9, 4):.4f}} {{score(109, 104):.4f}}")
waves = sinusoidal_positions(20, {c}, {base})
moved = waves[:-5] @ sinusoidal_shift(5, {c}, {base})
print(torch.allclose(moved, waves[5:], atol=1e-4))
"""
