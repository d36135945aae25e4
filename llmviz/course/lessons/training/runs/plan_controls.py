"""The settings of a run on this page: the controls, as links write them, and the plan they make."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from llmviz.config import About, settings_of
from llmviz.corpus import CORPORA
from llmviz.course.ui import codec, kit
from llmviz.models.catalogue import MODELS, able, entry_of
from llmviz.tokenizers import TOKENIZERS, TRAINERS
from llmviz.training.config import OWN_TEXT, Plan, TrainConfig

MINE, FILE = "mine", "file"  # as a corpus: the text of the sidebar's lessons, an uploaded file
CORPUS_CHOICES = [*(name for name in CORPORA if name != "names-counts"), MINE, FILE]
TOKENIZER_CHOICES = tuple(dict.fromkeys((*TRAINERS, *TOKENIZERS)))
LARGEST_TEXT = 5_000_000  # characters of a learner's own text
POINTS = 4000  # of a curve at most; a point is the mean of the steps since the last
SNAPSHOTS = 40

# The names in the plan, their controls' names in the link with this before them.
MARK = "r_"
PLAN_FIELDS = ("characters", "vocab_size", "context_length", "windows", "fraction")
TRAIN_FIELDS = (
    "steps",
    "batch_size",
    "accumulate",
    "recompute",
    "learning_rate",
    "min_lr",
    "warmup_steps",
    "schedule",
    "optimizer",
    "weight_decay",
    "beta1",
    "beta2",
    "grad_clip",
    "eval_every",
    "eval_batches",
    "sample_every",
    "sample_tokens",
    "seed",
    "device",
    "dtype",
    "threads",
)
# Settings of models, whichever has them; 0 stands for a size that follows from the others.
OPTION_FIELDS = (
    "n_layer",
    "n_head",
    "n_embd",
    "hidden_size",
    "window",
    "dropout",
    "positions",
    "norm",
    "activation",
    "batch_norm",
    "negatives",
)
OPTIONAL = ("characters", "vocab_size", "hidden_size")
SNAPSHOT_FIELD = "snapshots"


@cache
def options_of(model: str) -> tuple[str, ...]:
    """Return which of its settings the form offers for a model, in the order of its class."""
    entry = entry_of(model)
    return tuple(
        option
        for option in settings_of(entry.config)
        if option in OPTION_FIELDS and option not in entry.not_in_forms
    )


def about(name: str, model_settings: dict[str, About] | None = None) -> About:
    """What a control means, in which unit and range."""
    if name == SNAPSHOT_FIELD:
        return About(
            "checkpoints that are kept during the run, to open and to fork",
            "checkpoints",
            0,
            SNAPSHOTS,
        )
    for known in (model_settings or {}, settings_of(TrainConfig), settings_of(Plan)):
        if name in known:
            return known[name]
    raise KeyError(name)


def _option(name: str) -> About:
    """A setting of models: the widest range and all choices of those that have it."""
    known = [
        settings_of(entry.config)[name]
        for model, entry in MODELS.items()
        if name in options_of(model)
    ]
    return About(
        known[0].meaning,
        known[0].unit,
        min((setting.low for setting in known if setting.low is not None), default=None),
        max((setting.high for setting in known if setting.high is not None), default=None),
        tuple(dict.fromkeys(choice for setting in known for choice in setting.choices)),
    )


def _param(name: str, default: Any) -> codec.Param:
    key = MARK + name
    if isinstance(default, bool):
        return codec.flag(key, default)
    setting = _option(name) if name in OPTION_FIELDS else about(name)
    if setting.choices:
        return codec.choice(key, default, setting.choices)
    low, high = (0 if name in OPTIONAL else setting.low), setting.high
    make: Any = codec.integer if isinstance(default, int) else codec.number
    return make(key, default, low, high)


def plan_params(start: Mapping[str, Any]) -> list[codec.Param]:
    """The controls of a plan; start: their values where a link says nothing."""
    named = {"model": tuple(MODELS), "corpus": CORPUS_CHOICES, "tokenizer": TOKENIZER_CHOICES}
    chosen = [codec.choice(MARK + name, start[name], options) for name, options in named.items()]
    fields = (*PLAN_FIELDS, *TRAIN_FIELDS, SNAPSHOT_FIELD, *OPTION_FIELDS)
    return [*chosen, *(_param(name, start[name]) for name in fields)]


def plan_of(state: kit.PageState, file: str | None = None) -> tuple[Plan, str | None]:
    """The plan that the controls describe, and the learner's own text where it is the corpus.

    file: an uploaded text. Raises ValueError naming the rule for values that cannot be.
    """

    def value(name: str) -> Any:
        setting = state[MARK + name]
        return None if name in OPTIONAL and not setting else setting

    corpus, text = value("corpus"), None
    if corpus in (MINE, FILE):
        text = state[kit.LEARNER_TEXT.key] if corpus == MINE else file
        check_own(text, is_file=corpus == FILE)
        corpus = OWN_TEXT
    steps, snapshots = value("steps"), value(SNAPSHOT_FIELD)
    settings = {name: value(name) for name in TRAIN_FIELDS}
    if not able(value("model"), "recomputes"):  # its control is not shown then
        settings["recompute"] = 0
    train = TrainConfig(
        **settings,
        log_every=max(1, -(-steps // POINTS)),
        snapshot_every=max(1, steps // snapshots) if snapshots else 0,
        checkpoint_every=max(1, steps // (snapshots or 4)),
        compile="off",
    )
    tokenizer = value("tokenizer")
    plan = Plan(
        model=value("model"),
        model_options={
            name: value(name) for name in options_of(value("model")) if value(name) is not None
        },
        corpus=corpus,
        characters=value("characters") if corpus == "tiny-world" else None,
        tokenizer=tokenizer,
        vocab_size=value("vocab_size") if tokenizer in TRAINERS else None,
        context_length=value("context_length"),
        windows=value("windows"),
        fraction=value("fraction"),
        train=train,
    )
    return plan, text


def check_own(text: str | None, *, is_file: bool) -> None:
    """Raise ValueError where a learner's text is absent or too long."""
    if not text or not text.strip():
        raise ValueError("no file is there yet" if is_file else "there is no text of yours yet")
    if len(text) > LARGEST_TEXT:
        raise ValueError(
            f"a text may have {LARGEST_TEXT:,} characters here; this one has {len(text):,}. "
            "The command line takes any size"
        )
