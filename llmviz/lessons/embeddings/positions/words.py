"""What the chapter on positions says."""

TITLE = "The position of a token"
TEXT = (
    "A word has the same row of the embedding table at every place of a text. And one layer of "
    "[[attention]] gives a word the same result for every order of the earlier words. So most "
    "models also get the positions. Three ways are shown here. The first adds waves from a "
    "formula. The second adds the rows of a learned table. The third turns queries and keys by an "
    "angle. There are other ways: T5 and ALiBi add a number for each distance to the attention "
    "scores."
)
WAY = "Kind of positions"
WAYS = {"sinusoidal": "Sinusoidal", "learned": "Learned", "rotary": "Rotary"}
ABOUT = {
    "sinusoidal": (
        "**Every column is a wave**, sine and cosine in turn, with short waves on the left and "
        "long waves on the right. Number 2i of position p is `sin(p / base^(2i/C))`. Number 2i + 1 "
        "is the cosine of the same angle. Point at a cell to see its own formula. The row of a "
        "position is added to the token's row. Such positions are called *absolute*: each place "
        "has a vector. (But the cosine of two of these rows depends only on their distance.)"
    ),
    "learned": (
        "**Every position has a row of its own.** Its numbers were random at first and were "
        "learned together with all other numbers of the model. The row is added to the token's "
        "row. These positions are *absolute*, too. After the last row the table ends."
    ),
    "rotary": (
        "**Nothing is added.** The numbers of each query and key are taken in pairs. Each pair is "
        "turned by an angle that grows with the position: fast for the first pair, slowly for the "
        "last. The picture shows cosines (left half) and sines (right half) of the angles. These "
        "positions are *relative*: a score depends on how far query and key are apart, not on "
        "where the two are."
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
    "cell": "position {row}, column {column}: {value}",
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
        "The wave of column {column} repeats after {length:,.1f} positions, so the table has "
        "{times:.1f} of these waves. The longest wave takes {slowest:,.0f} positions."
    ),
    "rotary": (
        "Column {column} makes a full turn in {length:,.1f} positions, so the table has "
        "{times:.1f} of these turns. The slowest pair takes {slowest:,.0f} positions."
    ),
}
ALIKE = {
    "sinusoidal": (
        "Neighbouring positions have a cosine of {near}, positions {distance} apart have {far}. "
        "**The cosine depends only on the distance**: at equal distance it differs by {spread} at "
        "most, wherever the two positions are. And for every distance there is one matrix. It "
        "turns the row of any position into the row of the position that is this distance later."
    ),
    "learned": (
        "Neighbouring positions have a cosine of {near} on average, positions {distance} apart "
        "have {far}. These numbers come only from training. At equal distance, the cosine differs "
        "by up to {spread} from place to place."
    ),
    "rotary": (
        "Neighbouring positions have a score of {near}, positions {distance} apart have {far}. "
        "**The score depends only on the distance**: at equal distance it differs by {spread} at "
        "most."
    ),
}
A_MILLIONTH = "less than a millionth"
ASK = "The first column is the shortest wave. After how many positions does it repeat?"
ASK_RIGHT = "After 2π = {length:.2f}: the angle of the first pair grows by 1 with each position."
ASK_WIDTH = {
    "sinusoidal": (
        "{c} is the number of columns: {half} wavelengths, each with a sine and a cosine. It does "
        "not say how long the waves are."
    ),
    "rotary": (
        "{c} is how many numbers a query has, {half} pairs. It does not say how fast they turn."
    ),
}
ASK_SLOW = "{length:,.2f} positions is the length of the longest wave, the one of the last pair."

# ---- added

ADD_TITLE = "Token + position = what the model reads"
ADD_TEXT = {
    "learned": (
        "Every number of the input is a sum of two numbers. The model computed all three tables a "
        "moment ago. Click a cell of the last table."
    ),
    "sinusoidal": (
        "Every number of the input is a sum of two numbers. This model learned its positions. "
        "Waves would be added in the same way. Click a cell of the last table."
    ),
}
SENTENCE = "Sentence"
FROM = "First column shown"
NO_WORDS = "There are no words yet; type a sentence above."
TOKEN = "token"
POSITION = "position"
INPUT = "input"
NO_WORD_TWICE = "No word occurs twice in this sentence. Repeat a word and compare it with itself."
SAME_WORD = (
    "**{word} is at position {i} and at position {j}.** Its token row is the same both times "
    "(distance {before:.0f}). With the positions added, the two inputs are {after:.3f} apart, and "
    "their cosine is {cosine:.3f}."
)

# ---- turned

TURN_TITLE = "Turned, not added"
TURN_TEXT = (
    "Here the first {d} numbers of the rows of two words are the query and the key. Number i and "
    "number i + {half} make a pair. Move both words by the same number of positions and watch the "
    "score."
)
ASKS = "Query of"
ANSWERS = "Key of"
AT = "at position"
AT_TOO = "at position (key)"
SHIFT = "Move both by"
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
    "For the query of {q} at position {m} and the key of {k} at position {n}, the score is "
    "**{score}**. At positions {m2} and {n2} it is **{score2}**. Of the positions, only the "
    "distance counts: {apart}."
)
APART = {
    -1: "the key is {n} after the query",
    0: "both are at the same position",
    1: "the key is {n} before the query",
}

# ---- the shuffle test

SHUFFLE_TITLE = "The shuffle test"
SHUFFLE_TEXT = (
    "Two models with one layer each were trained in the same way, on the same stories, in the same "
    "order. One has a table of positions, the other has none. Both predict the next word after "
    "the same words, first in their order, then shuffled. The last word stays last, because the "
    "prediction is made from it."
)
NO_PAIR = "The two models are not in this copy. These commands make them (some minutes each):"
NO_PAIR_COMMAND = "python -m llmviz checkpoints make {name}"
PROMPT = "Words"
SHUFFLE = "Shuffle"
AS_IT_IS = "As they were"
UNKNOWN = "The models do not know {n} of this text. They read <|unk|> instead."
TOO_LONG = "The text is too long. The models read its last {n} words."
TOO_SHORT = "Type at least three words. The last word stays, the others are shuffled."
ORDERS = ("as written", "shuffled")
NEXT_AXIS = "probability of the next word"
MODELS = ("with positions", "without positions")
MOVED = (
    "How much probability moves to other words in this order? With positions {with_}, without "
    "positions {without}."
)
UNMOVED = "This time, the words are still in their old order. Shuffle again."
AS_WRITTEN = (
    "So far, both models have read the words as written. Answer the question above, then press "
    "“Shuffle” to see if you were right."
)
MANY = "On average over {n} orders, it is {with_} with positions and {without} without."
NOTHING = "nothing"
LOSSES = (
    "On stories that neither model has seen, the loss is {with_:.3f} [[nats]] a word with "
    "positions and {without:.3f} without."
)
PROBES = (
    "Some probes ask for the opposite of a word, as in the example above. The model with positions "
    "is right in {with_} of {n} probes, the one without in {without}; random choice would be right "
    "in half of them."
)
WHY = (
    "Without positions, one layer of attention adds up the values of the words, each times its "
    "weight. Such a sum is the same in every order. With a second layer, a model can know "
    "something about the order. The [[causal mask]] lets each word see only itself and the words "
    "before it. So what the first layer adds to a word depends on how many and which words came "
    "before it."
)
ASK_SHUFFLE = (
    "The model without positions reads the same words in another order. The last word stays last. "
    "What happens to the prediction of the model?"
)
ASK_SHUFFLE_ANSWERS = (
    "It stays exactly the same",
    "It changes a little",
    "It becomes nonsense",
)
ASK_SHUFFLE_REASONS = (
    "With one layer and no positions, the last word takes the same values with the same weights, "
    "in "
    "any order.",
    "Nothing in this model depends on the order: no number changes, except by rounding.",
    "For this model the order of the words before the last makes no difference.",
)

# ---- spot the mistake

MISTAKE_TITLE = "Spot the mistake"
MISTAKE_TEXT = (
    "Somebody computed the row of position {position} in a sinusoidal table with {width} columns. "
    "The numbers fit the formulas, but some of the formulas are wrong:"
)
MISTAKE_LINE = "column {column}: {wave}({position} / {base}^({column}/{width})) = {value}"
MISTAKE_ASK = "In which columns is the exponent wrong?"
MISTAKE_ANSWERS = ("0 and 2", "1 and 3", "2 and 3", "in all four")
MISTAKE_REASONS = (
    "In even columns the exponent is column / {width}. So these two columns are right.",
    "A sine and the cosine next to it share one angle, so the exponent is 2i/{width} in both "
    "columns of pair i. Columns 1 and 3 need the exponents 0/{width} and 2/{width}: {right_1} and "
    "{right_3}.",
    "Column 2 begins pair 1, so its exponent 2/{width} is right.",
    "The exponents of columns 0 and 2 are right: each begins a pair.",
)

SNIPPET = """
import torch

from llmviz.nn.positions import sinusoidal_positions, sinusoidal_shift, turned
from llmviz.pretrained import load_bundled

model, tokenizer, card = load_bundled({name!r})
ids = tokenizer.encode("cat mat")
vectors = model.token.weight.detach().double()
q, k = vectors[[ids[0], ids[-1]], None, :{d}]  # their first {d} numbers


def score(m, n):
    at = torch.tensor([m, n], dtype=torch.float64)
    return float(turned(q, at[:1], {base}) @ turned(k, at[1:], {base}).T)


print(f"{{score(9, 4):.4f}} {{score(109, 104):.4f}}")
waves = sinusoidal_positions(20, {c}, {base})
moved = waves[:-5] @ sinusoidal_shift(5, {c}, {base})
print(torch.allclose(moved, waves[5:], atol=1e-4))
"""
