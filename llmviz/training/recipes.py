"""How each bundled checkpoint is made: one line of settings each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from llmviz.files.paths import DRAFTS
from llmviz.models.word2vec_training import SkipGramTraining
from llmviz.training.config import BOTH, DETAILS, TrainConfig
from llmviz.training.plan import Plan
from llmviz.training.word_vectors import WordVectorPlan

# All models on `names` see the same batches, as often, with one validation set.
NAMES = Plan(
    model="gpt",
    corpus="names",
    tokenizer="char",
    context_length=16,
    windows="padded",
    train=TrainConfig(
        steps=6000,
        batch_size=64,
        learning_rate=3e-3,
        min_lr=1e-5,
        warmup_steps=100,
        weight_decay=0.05,
        eval_every=500,
        eval_batches=0,
        log_every=20,
        checkpoint_every=2000,
        sample_every=1000,
        sample_tokens=20,
        dtype="float32",
    ),
)
# Small models that read tiny-world in whole words. Those with the same settings of training read
# the same tokens in the same order, as many.
WHOLE_WORDS = Plan(
    model="gpt",
    model_options={"n_layer": 3, "n_head": 4, "n_embd": 64},
    corpus="tiny-world",
    characters=4_000_000,
    tokenizer="word",
    context_length=64,
    windows="documents",
    fraction=0.02,
    train=TrainConfig(
        steps=1000,
        learning_rate=3e-3,
        min_lr=3e-5,
        warmup_steps=100,
        weight_decay=0.05,
        eval_every=200,
        log_every=20,
        checkpoint_every=400,
        dtype="float32",
    ),
)
# GPTs that read tiny-world in BPE tokens, all with the same tokenizer.
WORD_PIECES = Plan(
    model="gpt",
    corpus="tiny-world",
    characters=40_000_000,
    tokenizer="bpe",
    vocab_size=3072,
    context_length=256,
    windows="padded",
    fraction=0.01,
    train=TrainConfig(batch_size=16, eval_every=500, checkpoint_every=500),
)
# Both translators see the same sentences in the same batches, as often.
TRANSLATION = Plan(
    model="seq2seq",
    corpus="pairs",
    tokenizer="word",
    context_length=32,
    train=TrainConfig(
        steps=6000,
        batch_size=64,
        learning_rate=2e-3,
        min_lr=2e-5,
        warmup_steps=400,
        weight_decay=0.01,
        eval_every=500,
        eval_batches=10,
        log_every=20,
        checkpoint_every=1000,
    ),
)
_TRAINED = {part.name for part in dataclasses.fields(TrainConfig)}


def like(plan: Plan, options: dict[str, Any], **changes: Any) -> Plan:
    """Return a plan like another but for options of its model and what else is named."""
    train: Any = {name: changes.pop(name) for name in _TRAINED & set(changes)}
    return dataclasses.replace(
        plan,
        model_options={**plan.model_options, **options},
        train=dataclasses.replace(plan.train, **train),
        **changes,
    )


@dataclass(frozen=True)
class Recipe:
    """What a checkpoint is for, and the plan that makes it."""

    description: str
    plan: Plan | WordVectorPlan
    then: tuple[dict[str, Any], ...] = ()  # what each fork at the end of the part before changes


def _one_layer(positions: str) -> Plan:
    """Two models alike but for positions. One layer: a second would see order through the mask."""
    options = {"n_layer": 1, "positions": positions}
    return like(WHOLE_WORDS, options, steps=4000, eval_every=500, checkpoint_every=1000)


# What a transformer gained since 2017. The models have the same number of parameters to within two
# in a hundred: where a change takes some away, the feed-forward is wider by as many.
# Each changes one thing in the one before it …
_POST = {"positions": "sinusoidal", "norm": "post"}
_PRE = {**_POST, "norm": "pre"}
_RMS = {**_PRE, "norm_kind": "rms"}
_LEARNED = {**_RMS, "positions": "learned"}
_ROTARY = {**_RMS, "positions": "rotary"}
_SWIGLU = {**_ROTARY, "activation": "swiglu"}
# … and these change one thing in the last.
_GROUPED = {**_SWIGLU, "n_kv_head": 2, "hidden_size": 170 + 21}
_MULTI_QUERY = {**_SWIGLU, "n_kv_head": 1, "hidden_size": 170 + 32}
_EXPERTS = {**_SWIGLU, "n_expert": 4, "experts_per_token": 2, "hidden_size": 41}
_WINDOW = {**_SWIGLU, "window": 16}

_FAMILY: dict[str, tuple[str, dict[str, Any]]] = {
    "post-norm": (
        "waves for positions, norms after each addition, GELU: nearly the model of 2017",
        _POST,
    ),
    "pre-norm": ("norms before attention and feed-forward", _PRE),
    "rms-norm": ("RMSNorm in place of layer norm", _RMS),
    "learned": ("learned positions in place of waves", _LEARNED),
    "rotary": ("rotary positions in place of waves", _ROTARY),
    "swiglu": ("SwiGLU in place of GELU", _SWIGLU),
    "grouped-query": ("two heads of keys and values for four heads", _GROUPED),
    "multi-query": ("one head of keys and values for four heads", _MULTI_QUERY),
    "experts": ("four small feed-forward networks, two for each token", _EXPERTS),
    "window": ("each token sees itself and the 15 before it", _WINDOW),
}
ERRORS = "errors"  # the folder of runs that the lesson "Why is it wrong?" holds against others
SINCE_2017 = "since-2017"  # the folder of this family, below that of the bundled checkpoints

_NAMES_GPT = {"n_layer": 2, "n_head": 4, "n_embd": 48, "dropout": 0.1}

RECIPES: dict[str, Recipe] = {
    "tiny-world-gpt": Recipe(
        "a BPE GPT on the bundled world",
        like(
            WORD_PIECES,
            {"n_layer": 4, "n_head": 4, "n_embd": 192},
            steps=12_000,
            learning_rate=2e-3,
            min_lr=2e-5,
            warmup_steps=300,
            weight_decay=0.05,
            eval_batches=20,
            log_every=20,
            sample_every=1000,
            sample_tokens=200,
        ),
        then=(
            # Reading alone does not teach it who has what: see `llmviz.corpus.exercises`.
            {"exercises": 0.8, "steps": 22_000, "learning_rate": 1.6e-3},
            # It still guessed how big a thing is: see `llmviz.corpus.detail_exercises`.
            {
                "exercises": 0.8,
                "practice": DETAILS,
                "steps": 22_500,
                "schedule_start": 22_000,
                "warmup_steps": 50,
                "learning_rate": 1e-3,
                "min_lr": 3e-4,
            },
            # That cost some of what it knew: reading and owners again, down to a rate of 0.
            {
                "exercises": 0.5,
                "practice": BOTH,
                "steps": 25_000,
                "schedule_start": 22_500,
                "learning_rate": 7e-4,
                "min_lr": 0.0,
            },
        ),
    ),
    # The draft of speculative decoding: the same stories cut by the same tokenizer as its target's.
    f"{DRAFTS}/tiny-world": Recipe(
        "one narrow layer that guesses the next tokens of tiny-world-gpt",
        like(
            WORD_PIECES,
            {"n_layer": 1, "n_head": 4, "n_embd": 64},
            steps=2500,
            learning_rate=5e-3,
            min_lr=5e-5,
            warmup_steps=100,
            weight_decay=0.01,
            eval_batches=10,
            log_every=50,
            dtype="float32",
        ),
    ),
    "tiny-world-char": Recipe(
        "a character GPT with matrices that fit on a screen",
        Plan(
            model="gpt",
            model_options={"n_layer": 3, "n_head": 4, "n_embd": 48},
            corpus="tiny-world",
            characters=20_000_000,
            tokenizer="char",
            context_length=128,
            windows="documents",
            fraction=0.02,
            train=TrainConfig(
                steps=8000,
                batch_size=24,
                learning_rate=3e-3,
                min_lr=3e-5,
                warmup_steps=200,
                weight_decay=0.01,
                eval_every=500,
                eval_batches=20,
                log_every=20,
                checkpoint_every=1000,
                sample_every=2500,
                sample_tokens=200,
            ),
        ),
    ),
    "names-bigram": Recipe(
        "a table of letter pairs, trained with gradients",
        like(NAMES, {}, model="bigram", learning_rate=0.1, min_lr=1e-3, weight_decay=0.0),
    ),
    "names-mlp": Recipe(
        "a window of letters through one hidden layer with batch norm",
        like(NAMES, {"window": 8, "n_embd": 16, "hidden_size": 128}, model="mlp"),
    ),
    "names-wavenet": Recipe(
        "a window of letters, joined pair by pair",
        like(NAMES, {"n_embd": 24, "hidden_size": 96}, model="wavenet"),
    ),
    "names-rnn": Recipe("a plain recurrent network", like(NAMES, {"n_embd": 64}, model="rnn")),
    "names-gru": Recipe("a recurrent network with gates", like(NAMES, {"n_embd": 64}, model="gru")),
    "names-lstm": Recipe(
        "a recurrent network with a protected memory", like(NAMES, {"n_embd": 64}, model="lstm")
    ),
    "names-gpt": Recipe("a transformer", like(NAMES, _NAMES_GPT)),
    "names-gpt-no-mask": Recipe(
        "a transformer that sees the letters it should predict",
        like(NAMES, {**_NAMES_GPT, "mask": "none"}, steps=1000),
    ),
    "names-gpt-no-shift": Recipe(
        "a transformer trained to copy its input",
        like(NAMES, {**_NAMES_GPT, "shift": False}, steps=1000),
    ),
    "names-gpt-mask-off-by-one": Recipe(
        "a transformer whose mask lets each letter see one ahead",
        like(NAMES, {**_NAMES_GPT, "mask": "off_by_one"}, steps=1000),
    ),
    "names-gpt-two-softmaxes": Recipe(
        "a transformer with its mask between two softmaxes",
        like(NAMES, {**_NAMES_GPT, "softmax_before_mask": "softmax_again"}),
    ),
    "names-gpt-no-scale": Recipe(
        "a transformer whose scores are not divided by the root of the head size",
        like(NAMES, {**_NAMES_GPT, "attention_scale": "none"}),
    ),
    "words-gpt": Recipe("one layer over whole words, with positions", _one_layer("learned")),
    "words-gpt-no-positions": Recipe(
        "one layer over whole words, without positions", _one_layer("none")
    ),
    "masked-words": Recipe(
        "an encoder that sees both sides and says which word is hidden",
        like(
            WHOLE_WORDS,
            {},
            model="bert",
            windows="padded",
            steps=5000,
            batch_size=48,
            warmup_steps=200,
            eval_every=500,
            checkpoint_every=1000,
        ),
    ),
    **{
        f"{SINCE_2017}/{name}": Recipe(description, like(WHOLE_WORDS, options))
        for name, (description, options) in _FAMILY.items()
    },
    # As since-2017/learned in all but how much it reads: its text comes again some thirty times.
    f"{ERRORS}/by-heart": Recipe(
        "learned positions, trained on few stories until it knows them by heart",
        like(WHOLE_WORDS, _LEARNED, characters=300_000),
    ),
    f"{ERRORS}/by-heart-smoothed": Recipe(
        "the same with label smoothing, so that it learns never to be quite sure",
        like(WHOLE_WORDS, _LEARNED, characters=300_000, label_smoothing=0.1),
    ),
    "tiny-world-word2vec": Recipe(
        "a vector for each word, learned from its neighbours",
        WordVectorPlan(
            model_options={"n_embd": 24, "window": 6, "negatives": 5},
            train=SkipGramTraining(
                epochs=20, learning_rate=0.05, subsample=1e-4, snapshots=24, crowding=2.0
            ),
        ),
    ),
    "pairs-seq2seq": Recipe(
        "an encoder and decoder that translate tiny-world's sentences",
        like(TRANSLATION, {"n_layer": 2, "n_head": 4, "n_embd": 96}, model="seq2seq"),
    ),
    "pairs-rnn": Recipe(
        "a recurrent encoder and decoder with one vector between them, on the same sentences",
        like(TRANSLATION, {"cell": "gru", "n_embd": 96}, model="seq2seq-rnn"),
    ),
}


def plan_of(name: str, **changes: Any) -> Plan | WordVectorPlan:
    """The plan of a recipe; `changes` set fields of its training's settings anew."""
    if name not in RECIPES:
        raise ValueError(f"checkpoint must be one of {', '.join(RECIPES)}; got {name!r}")
    plan = RECIPES[name].plan
    train: Any = dataclasses.replace(plan.train, **changes)
    return dataclasses.replace(plan, train=train)
