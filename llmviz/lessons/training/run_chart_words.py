"""The texts of a chart of runs, for all chapters that have one."""

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
    "perplexity": "perplexity; for word2vec e to the power of the loss",
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
    "The loss of word2vec is per pair of words, that of the others is per token. They cannot be "
    "compared."
)
PICTURE = {
    "picture": "Curves of loss, learning rate and gradient norm; the table below has the numbers.",
    "step": "step",
    "keys": (
        "Thin line: training loss. Thick line with rings: validation loss. "
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
                "The share that each mean takes from the mean before it. The points themselves "
                "stay visible. Later points have no effect on a mean."
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
    "silent": "There is no sample up to this step.",
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
    "A run has up to {points:,} points. At most {limit:,} are drawn: the highest and the lowest of "
    "each part, so no peak is lost."
)
LONG = (
    "A run of this chart has {points:,} points. That is too many, so only every second one is "
    "read, or every fourth, and so on, until about {kept:,} are left. The chart does not show a "
    "peak between them. Means and the CSV are made from the points that are read."
)
SMOOTHED = (
    "The bold line is a running mean of the training loss. Each mean is about {weight} of the mean "
    "before it, plus the rest of the new point."
)
NO_BYTES = "For a run whose bytes of text are not known, bits per token are drawn."
