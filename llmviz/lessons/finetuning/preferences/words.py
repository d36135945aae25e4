"""All that the chapter "Preferences" says. Names in braces are filled in with live numbers."""

TITLE = "Which of two endings is better?"
TEXT = (
    "Some wishes are hard to write down as one right answer, but easy to show with two answers: "
    "this one is better than that one. Chat models are often trained on such pairs, chosen by "
    "people. Here a rule that can be computed chooses, so that you can check every pair."
)
RULE = "The better ending …"
RULES = {"place": "names the place", "shorter": "is shorter", "happier": "is happier"}
ABOUT = {
    "shorter": "The ending with fewer words is the better one.",
    "place": "An ending that says where people met is better than one that does not.",
    "happier": (
        "An ending with glad people is better than one without a feeling, and that is better than "
        "one with sorry people. There are {glad} words for glad and {sorry} for sorry, and a pair "
        "shows one or two of them: expect this rule to take more updates."
    ),
}
PAIR = "Pair"
PAIR_STORY = "The story up to its ending"
BETTER = "better"
WORSE = "worse"
BASE_THINKS = (
    "The logarithm of the probability that the base model gives to an ending, ln π₀, is {better} "
    "nats for the better one and {worse} nats for the worse one. So it {prefers}. It is a sum over "
    "all tokens of the ending: a longer one tends to be less probable."
)
PREFERS = {
    1: "finds the better one more probable",
    -1: "finds the worse one more probable",
    0: "finds both equally probable",
}

LOSS_TITLE = "The loss of a pair, number by number"
LOSS_TEXT = (
    "[[direct preference optimisation|Direct preference optimisation]] (DPO) keeps a frozen copy "
    "of the base, π₀; π is the model in training. For each ending it asks how much more probable "
    "it has become: ln π − ln π₀. The better ending should have gained more than the worse one. β "
    "times the difference is the **margin**, and the loss is −ln σ(margin). σ turns any number "
    "into one between 0 and 1: σ(m) = 1 ÷ (1 + e to the power of −m). Point at a cell to see where "
    "it comes from."
)
BETA = "β"
BETAS = (  # each 1.25 to 1.5 times the one before
    *("0.01", "0.015", "0.02", "0.03", "0.04", "0.05", "0.07"),
    *("0.1", "0.15", "0.2", "0.3", "0.4", "0.5", "0.6", "0.8"),
    *("1", "1.5", "2", "3"),
)
BETA_TEXT = (
    "With a small β the difference must be large before the loss is small. With a large β a small "
    "difference is enough, and then the loss asks for little more."
)
LABELS = {
    "now": ("ln π", "nats"),
    "before": ("ln π₀", "nats, frozen"),
    "gain": ("gain", "ln π − ln π₀"),
    "better": ("better", "gain"),
    "worse": ("worse", "gain"),
    "difference": ("difference", "better − worse"),
    "margin": ("margin", "β · difference"),
    "probability": ("σ", "of the margin"),
    "nats": ("loss", "−ln σ, nats"),
}
ROW = "pair {number}"
COLUMNS = ("better", "worse")
TIMES_BETA = "× β = {beta}"
SIGMA = "σ"
MINUS_LN = "−ln"
AT_START = (
    "Nothing is trained yet, so π is π₀. Every gain is 0, every margin is 0, and σ(0) is a half. "
    "So the loss of every pair is ln 2 = {loss:.4f} nats, whatever β is. After the training below, "
    "π is the model that came out of it."
)
AFTER = (
    "π is the model after {updates} updates with β = {beta}. Of these {pairs} pairs, {right} have "
    "a margin above 0. The mean loss of all {pairs} is {loss:.3f} nats; with all margins at 0 it "
    "is ln 2."
)
ASK = "Before any training, π is the same model as π₀. What is the loss of a pair with β = {beta}?"
ASK_ANSWERS = ("0 nats", "ln 2, about 0.69 nats", "{beta} nats", "it differs from pair to pair")
ASK_REASONS = (
    "A loss of 0 would need σ = 1, so an infinite margin. At the start the margin is 0.",
    "Both endings have gained nothing, so the margin is β · 0 = 0, σ(0) = ½ and −ln ½ = ln 2.",
    "β is multiplied by a difference, and that is 0 at the start.",
    "ln π differs from pair to pair, and so does ln π₀. Their difference is 0 for each.",
)

TRAIN_TITLE = "Train it"
TRAIN_TEXT = (
    "An adapter learns from {pairs} pairs of your rule, {batch} in each update. At the start, at "
    "the end and every {every} updates it is tested on {held_out} held-out pairs, which it does "
    "not learn from. There it also writes endings for the stories of {prompts} of them."
)
UPDATES = "Updates"
START = "Train on pairs"
COST = (
    "Where the bundled adapters were made, {updates} updates of this size would take about "
    "{seconds:.0f} seconds, and the tests on the way take some more. Fewer updates take less."
)
MARGIN_AXES = ("updates", "margin and loss, nats per pair")
MARGIN_NAMES = ("mean margin", "mean loss")
MOVED_AXES = ("updates", "KL(π ‖ π₀), nats per token")
MOVED_NAME = "how far the model has moved"
SHARE_AXES = ("KL(π ‖ π₀), nats per token", "share of held-out pairs with a margin above 0")
RUN_NAME = "β = {beta}, {updates} updates"
READ = (
    "After {updates} updates ({seconds:.0f} seconds): {preferred} of the held-out pairs have a "
    "margin above 0, and the model has moved by **{moved:.3f} nats per token**. That is the [[KL "
    "divergence]] of the new model from the old one, 0 for the same model. e to the power of it is "
    "{times}: on (geometric) average, the new model finds its own next token {times} times as "
    "probable as the old model does."
)
RUNS_TITLE = "Runs compared"
RUNS_TEXT = (
    "The last runs of this visit with your rule: how many pairs each gets right, and how far its "
    "model has moved. Train again with another β, or for longer, and compare."
)
TEXTS_TITLE = "What it writes now"
TEXTS_TEXT = (
    "At each test the model ends a story that it was not trained on, with the most probable token "
    "each time. The score is that of your rule."
)
TEXT_COLUMNS = ("updates", "KL, nats per token", "score", "ending")
NOTHING = "(nothing: it ends the text at once)"
SCORES = {
    "happier": "The score is 1 for glad, −1 for sorry, 0 for neither or for both.",
    "shorter": "The score is minus the number of words.",
    "place": "The score is 1 where the place is named, else 0.",
}
OVER_TITLE = "When training goes too far"
OVER = (
    "The loss asks for the margin alone. Nothing in it says that the text must stay a good text. "
    "With a small β or many updates the model can go on moving after the pairs are right: watch "
    "KL, and read the endings. If the pairs get better while the texts get worse, that is called "
    "over-optimisation."
)
OVER_BEST = {
    "before": (
        "In this run the highest share of held-out pairs with a margin above 0 was {share}, first "
        "at step {step}. From there to the end KL went from {then:.3f} to {now:.3f} nats per token."
    ),
    "end": (
        "In this run the highest share of held-out pairs with a margin above 0 was {share}, and it "
        "was first seen at the end, at a KL of {now:.3f} nats per token."
    ),
    "never": (
        "In this run no held-out pair had a margin above 0 at any test. At the end KL was "
        "{now:.3f} nats per token."
    ),
}
OVER_SCORE = (
    "By your rule, the endings that it writes scored {first} on average before training, and "
    "{last} at the end."
)
OWN_TITLE = "On your story"
OWN_TEXT = (
    "Type the beginning of a story. The base and the model of the last run each write an ending."
)
BEGINNING = "Beginning"
MODELS = ("the base", "after the training")
NOT_YET = "Train the model above, and its ending appears here."
STORY = (
    "One winter morning, Otto Thistleton the archer woke up happy. The best friend he had was "
    "Esme Saffronfield, a famous vet. They met at the market."
)
EMPTY = "There is no text yet. Type something above."
