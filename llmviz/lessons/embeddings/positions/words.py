"""What the chapter on positions says."""

TITLE = "Where a token stands"
TEXT = (
    "A row of the embedding table is the same wherever the word stands. And one layer of "
    "[[attention]] gives a word the same result in whatever order the earlier words stand. So most "
    "models are told the place. Three ways are shown here: add waves that a formula gives, add a "
    "table that was learned, or turn queries and keys by an angle. There are others: T5 and ALiBi "
    "add a number for each distance to the attention scores."
)
WAY = "How positions are told"
WAYS = {"sinusoidal": "Sinusoidal", "learned": "Learned", "rotary": "Rotary"}
ABOUT = {
    "sinusoidal": (
        "**Every column is a wave**, sine and cosine in turn, from quick on the left to slow on "
        "the right. Number 2i of position p is `sin(p / base^(2i/C))`, number 2i + 1 is the cosine "
        "of the same angle. Point at a cell to see its own formula. The row of a position is added "
        "to the token's row. Such positions are called *absolute*: each place has a vector. (But "
        "the cosine of two of these rows depends on their distance only.)"
    ),
    "learned": (
        "**Every position has a row of its own.** Its numbers were random at first and were "
        "learned together with all others. The row is added to the token's row. These positions "
        "are *absolute*, too. After the last row the table ends."
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
        "any position into the row that is so many positions later."
    ),
    "learned": (
        "Neighbours have a cosine of {near} on average, positions {distance} apart {far}. "
        "These numbers come from training alone. At equal distance the cosine differs by up to "
        "{spread} from place to place."
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
        "Every number of the input is a sum of two. This model learned its positions; waves are "
        "added in the same way. Click a cell of the last table."
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
    "cosine is {cosine:.3f}."
)

# ---- turned

TURN_TITLE = "Turned, not added"
TURN_TEXT = (
    "The first {d} numbers of two words' rows are taken here as a query and a key. Number i and "
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
    "The query of {q} at {m} meets the key of {k} at {n}: the score is **{score}**. At {m2} and "
    "{n2} it is **{score2}**. For the positions, only this counts: {apart}."
)
APART = {
    -1: "the key stands {n} after the query",
    0: "both stand at the same place",
    1: "the key stands {n} before the query",
}

# ---- the shuffle test

SHUFFLE_TITLE = "The shuffle test"
SHUFFLE_TEXT = (
    "Two models with one layer each were trained in the same way, on the same stories, in the same "
    "order. One has a table of positions, the other has none. Both predict the next word after "
    "the same words, first in their order, then shuffled. The last word stays last, because the "
    "prediction is made from it."
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
    "How much probability moves to other words in this order? {with_} in the model with positions, "
    "and {without} in the one without."
)
UNMOVED = "This draw left the words in their order. Shuffle once more."
AS_WRITTEN = (
    "Until now both models have read the words as written. Answer the question above, then press "
    "“Shuffle” to see if you were right."
)
MANY = "Over {n} orders: {with_} on average with positions, {without} without."
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
    "Without positions, one layer of attention adds up the values of the words before. A sum is "
    "the same in every order. With a second layer a model can know something about the order. The "
    "[[causal mask]] lets each word see only the words before it. So what the first layer adds to "
    "a word depends on how many and which words came before it."
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
    "In even columns the exponent is column / {width}: these two are right.",
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
