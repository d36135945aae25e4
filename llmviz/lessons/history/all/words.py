"""All that the chapter "All of them" says. Names in braces are filled in with live numbers."""

LOOKS_LABEL = "What to look at"
LOOKS = {
    "name": "Your name, read by all",
    "axes": "All on the same axes",
    "when": "When each came",
}
MODELS = {
    "counted-pairs": "counted pairs",
    "counted-fours": "counts, 4 back",
    "names-bigram": "bigram",
    "names-mlp": "MLP",
    "names-wavenet": "WaveNet",
    "names-rnn": "RNN",
    "names-gru": "GRU",
    "names-lstm": "LSTM",
    "names-gpt": "GPT",
}
MISSING = "These models are not in this copy of the app: {names}. `{command}` makes one."

# ---- the name

TITLE = "One name, nine models"
TEXT = (
    "Two tables of counts and seven trained models, all from the same {names:,} names. Each cell "
    "is the loss of one letter, −ln of the probability that the model gave this letter before it "
    "read it. **counts, 4 back** is the table with Kneser–Ney from the chapter on counting. Point "
    "at a cell."
)
MEAN = "mean"
END = "end"
GRID = "the loss of each letter, by model"
SCALE = ("0 nats", "{most:.1f} nats")
NOTE = "{model} gave {letter} a probability of {p}: {loss:.3f} nats"
NOTE_MEAN = "{model}: {loss:.4f} nats per letter for the whole name"
BEST = (
    "**{best}** has the lowest mean loss for {name}, {low:.3f} nats per letter; {worst} has the "
    "highest, {high:.3f}. Their losses differ most at {place}: its probability goes from {least} "
    "({least_model}) to {most} ({most_model})."
)
PLACE, PLACE_END = "letter {number}, {letter}", "the end of the name"
BEST_TIE = "For {name} all models have the same mean loss, {low:.3f} nats per letter."
LISTED = {
    True: "The name is in the list that they learned from.",
    False: "The name is not in the list that they learned from.",
}

# ---- the axes

AXES_TITLE = "What each costs and what it brings"
AXES_TEXT = (
    "The curves of the trained models come from the runs that made them, as in *The race* of the "
    "lesson on training. Each run took 6,000 steps on one thread of one processor. The counts are "
    "made now. How far back each model looks is tested: a letter is exchanged, and the next "
    "probabilities change or stay the same."
)
ACROSS, UP = "Across", "Up"
MEASURES = {
    "loss": "held-out loss, nats per letter",
    "parameters": "parameters, or counts that are kept",
    "seconds": "seconds to learn",
    "train_rate": "letters per second, learning",
    "context": "letters back that change its prediction (15 were tested)",
    "write_rate": "letters per second, writing",
    "new": "names it wrote that are not in the list it learned from, of {count}",
}
POWERS = ("parameters", "seconds", "train_rate", "write_rate")  # axes that go by powers of ten
COLUMNS = {
    "loss": "loss, nats",
    "parameters": "parameters",
    "seconds": "seconds",
    "train_rate": "letters/s, learning",
    "context": "letters back",
    "write_rate": "letters/s, writing",
    "new": "new names",
}
MODEL = "model"
WRITE = "Let all nine write {count} names"
WRITE_SEED = "Seed"
WRITING = "{done} of {all} have written their names …"
WAITS = "A process is getting ready …"
UNWRITTEN = "No names were written yet. With the button below, all nine models write names now."
WROTE = "What they wrote first, from seed {seed}: {listed}."
WROTE_ONE = "**{model}** {names}"
LOWEST = (
    "**{best}** has the lowest loss on the held-out names, {low:.4f} nats per letter. Of the "
    "trained models it is {trained}, {trained_low:.4f}, with {parameters:,} parameters.{ties}"
)
LOWEST_TIES = (
    " {others} {follow} within {tie:g} nats: such a difference can come from the choice of names."
)
COUNTS_WIN = (
    " Here a table of counts is ahead, and this has to do with the names. Most of them were made "
    "by a rule: two well-known names were joined at two letters that they share. {known} of the "
    "held-out letters come after four symbols that the table has seen."
)
ASK = (
    "{a} has {a_parameters:,} parameters, {b} has {b_parameters:,}. Both took {steps:,} steps on "
    "the same batches. Which has the lower loss on names that it never saw?"
)
ASK_RIGHT = (
    "{model} ends at {loss:.4f} nats. Among these models more parameters are not always better."
)
ASK_RIGHT_LARGER = "{model} ends at {loss:.4f} nats. Here the larger one is better, too."
ASK_WRONG = "{model} ends at {loss:.4f} nats, the other one at {other:.4f}."

# ---- the timeline

WHEN_TITLE = "When each came, and what it needed"
WHEN_TEXT = (
    "The order of invention is not the order of this lesson. Recurrent networks came before the "
    "small network with a window. And for decades, tables of counts were the usual language model."
)
EVENT = "**{year} · {what}.** {needed} *{source}.*{here}"
HERE = " Here: {measured}."
HERE_ONE = "{model} {loss:.3f} nats"
EVENTS = (
    (
        1913,
        "Pairs are counted",
        "Markov counts by hand how vowels and consonants follow each other in 20,000 letters of "
        "Eugene Onegin. It needed the idea that the next letter depends on the last one.",
        "Markov 1913",
        ("counted-pairs", "names-bigram"),
    ),
    (
        1948,
        "Text is written by counts",
        "Shannon writes text by chance from tables of letters, pairs and words, and measures "
        "uncertainty in bits. It needed the idea that information can be measured by probability.",
        "Shannon 1948, A mathematical theory of communication",
        (),
    ),
    (
        1986,
        "Networks learn with hidden layers",
        "Backpropagation computes the gradient of every weight in one pass backwards. Each trained "
        "model of this lesson needs it.",
        "Rumelhart, Hinton and Williams 1986",
        (),
    ),
    (
        1990,
        "A network carries a state",
        "Elman gives a network its own last hidden vector as an input. It needed backpropagation "
        "for a network that reads a sequence step by step.",
        "Elman 1990, Finding structure in time",
        ("names-rnn",),
    ),
    (
        1995,
        "Counts are smoothed better",
        "Kneser and Ney count after how many different words a word appears, not how often it "
        "appears. It needed large collections of text, in which most long contexts are still "
        "missing.",
        "Kneser and Ney 1995",
        ("counted-fours",),
    ),
    (
        1997,
        "A protected memory",
        "The LSTM adds to its memory instead of overwriting it, so gradients can go back over many "
        "steps. It needed the finding that gradients vanish over time.",
        "Hochreiter and Schmidhuber 1997; Hochreiter 1991; Bengio, Simard and Frasconi 1994",
        ("names-lstm",),
    ),
    (
        2003,
        "Words become vectors in a network",
        "Bengio and others predict the next word from learned vectors of the last few words. It "
        "needed computers that train millions of weights for weeks.",
        "Bengio, Ducharme, Vincent and Jauvin 2003, A neural probabilistic language model",
        ("names-mlp",),
    ),
    (
        2014,
        "Fewer gates; and a look back",
        "The GRU has two gates where the LSTM has three. In the same year attention lets a "
        "translator look back at every word, because one vector seemed too little for a long "
        "sentence.",
        "Cho and others 2014; Bahdanau, Cho and Bengio 2014",
        ("names-gru",),
    ),
    (
        2016,
        "A tree over the past",
        "WaveNet combines its inputs two by two, so that a few layers see a long past, and it "
        "trains on all positions at once. It was made for sound.",
        "van den Oord and others 2016, WaveNet",
        ("names-wavenet",),
    ),
    (
        2017,
        "Attention alone",
        "The transformer drops recurrence: positions look at each other directly, all in "
        "parallel. It needed attention, and ways to train deep stacks: residual connections "
        "(2015) and layer norm (2016).",
        "Vaswani and others 2017; He and others 2015; Ba, Kiros and Hinton 2016",
        (),
    ),
    (
        2018,
        "The decoder by itself, trained on much text",
        "GPT keeps the transformer's decoder, learns the next token on thousands of books, and is "
        "then tuned for tasks. It needed the transformer and processors that compute in parallel.",
        "Radford, Narasimhan, Salimans and Sutskever 2018",
        ("names-gpt",),
    ),
)
