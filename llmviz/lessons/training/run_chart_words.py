"""What a chart of runs says, in whichever chapter it stands."""

PRIVATE = "a visitor's run"
AXES = {"steps": "step", "tokens": "tokens seen", "seconds": "seconds of training"}
UNITS = {
    "nats": "loss, nats per token",
    "perplexity": "perplexity",
    "bits": "loss, bits per byte of text",
}
UNITS_PAIRS = {
    "nats": "loss, nats per pair of words",
    "perplexity": "e to the power of the loss",
    "bits": "loss, bits per pair of words",
}
UNITS_BOTH = {
    "nats": "loss, nats per token or pair",
    "perplexity": "perplexity; of word2vec e to the loss",
    "bits": "loss, bits per byte or pair",
}
LR = "learning rate"
GRADIENT = "gradient norm, before clipping"
LINES = {
    "uniform": "all tokens equal, ln V",
    "unigram": "token counts",
    "bigram": "pair counts",
    "floor": "floor: the text's own entropy",
}
BLIND = "every answer ½, (1 + K) ln 2"
COUNTED = (
    "The loss of word2vec is per pair of words, the others' per token: their heights cannot be "
    "compared."
)
PICTURE = {
    "picture": "Curves of loss, learning rate and gradient norm; the table below says the numbers.",
    "step": "step",
    "keys": (
        "Thin: training loss, as it came. Thick with rings: validation. "
        "Drag across the picture to zoom."
    ),
    "controls": {
        "axis": {
            "title": "Over",
            "values": {"steps": "steps", "tokens": "tokens", "seconds": "seconds"},
        },
        "unit": {
            "title": "Loss as",
            "values": {
                "nats": "nats per token",
                "perplexity": "perplexity",
                "bits": "bits per byte",
            },
        },
        "mean": {
            "title": "Smoothing",
            "none": "none",
            "help": (
                "How much each mean keeps of the one before it. The raw points stay visible under "
                "it; the mean looks back only, never ahead."
            ),
        },
        "logx": "log x",
        "logy": "log y",
    },
    "hides": "Click a run in the table to hide it, or to show it again.",
    "hide": "Hide this run",
    "show": "Show this run",
    "closer": "Zoom in",
    "all": "Show all",
    "wrote": "At step {step} it wrote:",
    "silent": "No sample was written yet at this step.",
    "nothing": "(nothing: it ended the text at once)",
    "columns": {
        "run": "run",
        "step": "step",
        "train": "training",
        "mean": "training, mean",
        "validation": "validation",
        "lr": "learning rate",
        "grad": "gradient",
        "rate": "tokens/s",
    },
}
THINNED = (
    "Thinned: of up to {points:,} points a run, {limit:,} are drawn, the highest and the lowest of "
    "each stretch, so no peak is lost."
)
LONG = (
    "A run of this chart has {points:,} points. Of so many, every second one is read, or every "
    "fourth, and so on, until about {kept:,} are left: a peak between them is not seen, means are "
    "over those that are read, and the CSV has no others."
)
SMOOTHED = (
    "The firm line is a running mean of the training loss: each point weighs {weight} of what "
    "came before, nothing of what comes after."
)
NO_BYTES = "Where a text's bytes are not known, bits per token are drawn."
