"""All that the chapter "Counting" says. Names in braces are filled in with live numbers."""

LOOKS_LABEL = "What to look at"
LOOKS = {
    "pairs": "The table of pairs",
    "dice": "A name by the dice",
    "network": "A network that learns the table",
    "longer": "Longer contexts",
}

# ---- the table of pairs

TITLE = "Counting pairs"
TEXT = (
    "The simplest language model that looks back at all is a table. Take {names:,} given names and "
    "count how often each letter comes after each other letter. Divide each row by its sum, and "
    "the counts become probabilities: a [[bigram]] model. A dot stands for the start and the end "
    "of a name."
)
COUNTS, PROBABILITIES = "counts", "probabilities"
COUNTS_FORMULA = "how often the column's letter followed the row's"
PROBABILITIES_FORMULA = "each row of counts ÷ its sum"
FIRST_AXIS, SECOND_AXIS = "letter", "next letter"

WALK_TITLE = "Your name in this table"
WALK_TEXT = (
    "Each pair of letters has its cell. The probability of the whole name is the product of the "
    "probabilities of all its pairs. The [[cross-entropy|loss]] of a letter is −ln of its "
    "probability."
)
ROW_CHANCE, ROW_PRODUCT, ROW_LOSS = "probability", "product so far", "loss, nats"
SCALE = ("0 nats", "{most:.1f} nats")
GRID_LABEL = "the pairs of the name, with probability, product and loss"
CHANCE_NOTE = "{seen:,} of the {of_all:,} pairs that begin with {first} go on with {second}: {p}"
PRODUCT_NOTE = "the product of the first {number} probabilities: {product}"
LOSS_NOTE = "−ln {p} = {loss} nats"
RESULT = (
    "The probability of {name} is {product}. The mean of its losses is **{loss:.4f} nats** per "
    "letter, the end included. The mean over all {pairs:,} pairs of the table is {mean:.4f}. With "
    "1 added to every count it is {smooth:.4f}."
)
NEVER = (
    "The pair {pair} was never seen in the {names:,} names. Its probability is 0, so the "
    "probability of all of {name} is 0 and its loss is infinite. With 1 added to every count, "
    "no probability is 0, and the loss of {name} is {smooth:.4f} nats per letter. The mean over "
    "all pairs goes from {mean:.4f} to {mean_smooth:.4f}."
)
ASK_ROW = (
    "{seen:,} pairs were counted with {first} before {second}. What has to be known too, to say "
    "how likely {second} is after {first}?"
)
ASK_ROW_ANSWERS = {
    "How many pairs begin with {first}": (
        "The share is taken within the row: {seen:,} ÷ {of_all:,} = {p:.4f}."
    ),
    "How many pairs there are in all": (
        "{seen:,} ÷ {pairs:,} = {joint:.4f} is how likely this pair is among all pairs, not after "
        "{first}."
    ),
    "How many pairs end with {second}": (
        "{seen:,} ÷ {ends:,} = {back:.4f} says how likely {first} was before {second}: it looks "
        "back, not ahead."
    ),
}

# ---- a name by the dice

DICE_TITLE = "A name by the dice"
DICE_TEXT = (
    "The table can write. Begin in the row of the dot. Cut a strip from 0 to 1 into pieces, as "
    "long as the probabilities of that row. A random number u falls on one piece: that is the next "
    "letter. Go on in its row, until the dot comes."
)
DICE_SEED = "Seed of the random numbers"
DICE_LETTER = "Letter"
DICE_WRITTEN = "With this seed the table writes {name}{known}."
DICE_KNOWN = {True: ", which is in the bundled list of names", False: ""}
DICE_CUT = "With this seed the table writes {name} and would go on. It is stopped at {all} letters."
DICE_STEP = (
    "Letter {number}: in the row of {first}, u = {u:.4f} lies between {start:.4f} and {end:.4f}. "
    "That is the piece of {letter}, as long as its probability, {chance:.4f}."
)
DICE_OTHERS = (
    "The strip and the bars also show {others} other random numbers for this row. Their "
    "frequencies are near the probabilities. With more numbers they would usually be nearer."
)
DICE_MORE = "The next {count} seeds write: {listed}."
DOT = "the dot"

# ---- the network

NETWORK_TITLE = "The same table, learned"
NETWORK_TEXT = (
    "Now the table is not counted but learned. A network with one layer has {weights} weights, a "
    "[[logits|logit]] for each pair, all 0 at the start. [[softmax]] turns each row into "
    "probabilities. [[gradient|Gradient]] descent brings the loss down; each step uses all "
    "{pairs:,} pairs. Press play."
)
OPTIMIZER = "Optimizer"
OPTIMIZERS = {"sgd": "Plain descent", "momentum": "With momentum", "adam": "Adam"}
FILM = {
    "learned": "learned probabilities (rows: letter, columns: next letter)",
    "target": "counted probabilities",
    "loss": "loss, nats per letter",
    "steps": "steps",
    "cell": "P({column} after {row}): learned {learned}, counted {target}",
    "line": "step {step}: loss {loss} nats, {above} above the counted table",
}
NETWORK_RESULT = (
    "After {steps} steps at learning rate {rate:g} the loss is **{loss:.4f} nats**. The counted "
    "table has {floor:.4f}, and no table of pairs can have less on these pairs. The gap is "
    "{gap:.5f}. It is largest for the row of {worst}: {worst_gap:.4f} nats over its "
    "{worst_pairs:,} pairs."
)
NETWORK_MORE = (
    "So for a model that is a table, counting gives in one step what training comes close to. A "
    "model that is not a table cannot be counted. But it can be trained, with the same loss and "
    "the same kind of steps."
)
ASK_START = "Before the first step all {weights} weights are 0. What is the loss then?"
ASK_START_ANSWERS = {
    "0 nats": "A loss of 0 would need a probability of 1 for each letter that comes.",
    "ln 27 = {blind:.4f} nats": (
        "27 equal logits give each symbol the probability 1 ÷ 27, and −ln(1 ÷ 27) = {blind:.4f}."
    ),
    "{floor:.4f} nats, as the counted table": (
        "That is where it goes. At the start the network knows no counts."
    ),
}

# ---- longer contexts

LONGER_TITLE = "Why not count longer contexts?"
LONGER_TEXT = (
    "One letter back is not much. With n letters back the table has 27ⁿ rows, one for each string "
    "of n symbols. Here the {counted:,} names are counted that all models of this lesson learn "
    "from. The loss, in nats per letter, is measured on {held_out:,} held-out names."
)
COLUMNS = {
    "n": "letters back",
    "rows": "rows of the table",
    "seen": "rows ever seen",
    "share": "share seen",
    "known": "held-out letters with a row",
}
METHODS = {"add-one": "add one", "back-off": "back off", "kneser-ney": "Kneser–Ney"}
LOSS_COLUMN = "{method}, nats"
LONGER_METHODS = (
    "Of a long table most rows are empty, and a held-out name may need one of them. **Add one** "
    "adds 1 to every count, so an empty row says that all symbols are equally likely. **Back off** "
    "subtracts a discount from each count. It gives what was subtracted to the symbols that were "
    "not seen there, in the proportions of the row for one letter less. [[Kneser–Ney]] gives it to "
    "all symbols. In the shorter rows it counts after how many *different* longer contexts a "
    "symbol came, not how often it came."
)
AXES = ("letters back, n", "held-out loss, nats per letter")
TURN = "**{method}** has its lowest loss at n = {n}: {loss:.4f} nats.{after}"
TURN_AFTER = " At n = {longest} it is {last:.4f}."
TURN_NOT = (
    " This is the longest context that was tried here. If the loss rises again, it does so with a "
    "longer one."
)
CURSE = (
    "At n = {longest} the table has {rows:,} rows, and {seen:,} of them were ever seen: {share}. "
    "{unknown} of the held-out letters come after a row that was never seen. This is the *curse of "
    "dimensionality*: each further letter multiplies the number of rows by 27, but the text does "
    "not grow. A model that treats similar contexts alike does not need a row for each."
)
N_LABEL = "Letters back, n"
METHOD_LABEL = "Method"
ROW_TITLE = "One row of that table"
ROW_TEXT = "After {context} ({typed}), {seen}. The three most likely symbols: {top}."
ROW_SEEN = "which was counted {count:,} times"
ROW_UNSEEN = "which was never counted"
ROW_FROM = "the last {n} symbols of your name and what stands before it"
ASK_CURSE = (
    "With {n} letters back the table has {rows:,} rows. How many of them do the {letters:,} "
    "counted letters fill at most?"
)
ASK_CURSE_ANSWERS = {
    "{rows:,}": "Then each row would need at least one letter of its own.",
    "{letters:,}": (
        "Each letter, the ends counted too, is written into one row, so no more rows than letters "
        "can be filled. Many letters share a row: {seen:,} rows were filled."
    ),
    "{longer:,}": "That is the number of rows with one letter more back.",
}
