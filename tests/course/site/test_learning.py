"""What learns in the page: its gradients, its steps and its counts are those of llmviz."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from llmviz.corpus import load_corpus
from llmviz.course.components._shared.bundle import joined, modules
from llmviz.course.site.live import HERE
from llmviz.models import GPT, Bigram, GPTConfig
from llmviz.models.bigram import CountBigram
from llmviz.models.settings import BigramConfig
from llmviz.nn.loss import IGNORED
from llmviz.tokenizers.vocabulary import CharTokenizer
from llmviz.training import TrainConfig
from llmviz.training.data import TrainData
from llmviz.training.optimizers import Hyper, adamw
from llmviz.training.preparation import make_optimizer

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs node, which runs the page's script")
SMALL = {"vocab_size": 9, "context_length": 6, "n_layer": 2, "n_head": 2, "n_embd": 12}
LENGTHS = (6, 1, 4, 2)  # of the rows of a batch, an odd number of tokens
HYPER = {"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.05}
MODELS = """
const config = { ...given.config, norm_epsilon: 1e-5 };
const model = given.gpt ? new LearningGPT(config) : new Pairs(config.vocab_size);
for (const [name, values] of Object.entries(given.weights)) model.weights[name].set(values);
const listed = (arrays) =>
  Object.fromEntries(Object.entries(arrays).map(([name, one]) => [name, [...one]]));
"""


def run(code: str, entry: str = "learner.js", **given: Any) -> Any:
    """What a script returns that has all of a file of the page, and `given`."""
    script = joined(HERE / entry)
    told = f"const given = {json.dumps(given)};\n{script}\nconst result = (() => {{ {code} }})();\n"
    wanted = "process.stdout.write(JSON.stringify(result));"
    done = subprocess.run(
        [str(NODE), "-"], input=told + wanted, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def batch() -> tuple[dict[str, list[int]], Tensor, Tensor]:
    """The same rows for the page, one after the other, and for torch, side by side."""
    random = np.random.default_rng(0)
    told: dict[str, list[int]] = {"ids": [], "targets": [], "starts": [0]}
    ids = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.long)
    targets = torch.full_like(ids, IGNORED)
    for row, length in enumerate(LENGTHS):
        for name, tensor in (("ids", ids), ("targets", targets)):
            values = random.integers(0, SMALL["vocab_size"], length)
            tensor[row, :length] = torch.from_numpy(values)
            told[name] += values.tolist()
        told["starts"].append(len(told["ids"]))
    return told, ids, targets


def made(kind: str) -> nn.Module:
    """A model whose weights are large enough for every part to matter."""
    torch.manual_seed(0)
    model = GPT(GPTConfig(**SMALL)) if kind == "gpt" else Bigram(BigramConfig(vocab_size=9))
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    return model


def weights_of(model: nn.Module) -> dict[str, list[float]]:
    return {name: one.detach().flatten().tolist() for name, one in model.named_parameters()}


def near(got: list[float], wanted: Tensor, name: str) -> None:
    apart = np.abs(np.array(got) - wanted.detach().numpy().ravel()).max()
    assert apart <= 1e-4 * wanted.abs().max(), name


@pytest.mark.parametrize("kind", ["gpt", "pairs"])
def test_gradients_and_a_step_are_those_of_torch(kind):
    told, ids, targets = batch()
    model = made(kind)
    got = run(
        MODELS
        + """
        const loss = model.loss(given.batch, true);
        const gradients = listed(model.gradients);
        const again = model.loss(given.batch, false);
        const way = new AdamW(model, { decay: given.decay });
        for (let step = 0; step < 3; step++) { way.step(0.01); model.loss(given.batch, true); }
        return { loss, again, gradients, weights: listed(model.weights) };
        """,
        gpt=kind == "gpt",
        config=SMALL,
        weights=weights_of(model),
        batch=told,
        decay=HYPER["weight_decay"],
    )
    loss = model(ids, targets)[1]
    loss.backward()
    assert got["loss"] == got["again"] == pytest.approx(loss.item(), rel=1e-5)
    assert set(got["gradients"]) == set(weights_of(model))
    for name, weight in model.named_parameters():
        near(got["gradients"][name], weight.grad, name)
    config = TrainConfig(steps=3, learning_rate=0.01, grad_clip=1.0, **HYPER)
    optimizer = make_optimizer(model, config)
    for _ in range(3):
        optimizer.zero_grad()
        model(ids, targets)[1].backward()
        nn.utils.clip_grad_norm_(model.parameters(), config.grad_clip)
        optimizer.step()
    for name, weight in model.named_parameters():
        if name.endswith("qkv.bias"):  # that of keys changes no weight of attention: only rounding
            c = SMALL["n_embd"]
            got["weights"][name][c : 2 * c] = weight[c : 2 * c].tolist()
        near(got["weights"][name], weight, name)


def test_one_step_is_the_rule_of_llmviz():
    random = np.random.default_rng(1)
    weights, gradient = (torch.tensor(random.normal(size=(3, 4)) / 9) for _ in range(2))
    got = run(
        """
        const one = new Tensors([["w", 3, 4]]);
        one.values.set(given.weights);
        one.gradient.set(given.gradient);
        new AdamW(one).step(0.1);
        return [...one.values];
        """,
        weights=weights.flatten().tolist(),
        gradient=gradient.flatten().tolist(),
    )
    assert gradient.norm() < 1  # it is not shortened
    near(got, adamw(weights, gradient, {}, Hyper(lr=0.1, **HYPER)).param, "w")


def test_rows_and_pair_counts_of_the_names_are_those_of_python():
    learned, held = load_corpus("names").split(0.1, 0)
    learned, held = list(learned)[::9], [*list(held)[::9], "a" * 40]
    tokenizer = CharTokenizer(sorted({letter for name in learned for letter in name}))
    got = run(
        """
        const tokenizer = new Characters(given.tokenizer);
        const rows = [given.learned, given.held].map((texts) => rowsOf(texts, tokenizer, 16));
        return { held: rows[1], loss: countedLoss(...rows, given.size), smoothing: SMOOTHING };
        """,
        learned=learned,
        held=held,
        size=tokenizer.vocab_size,
        tokenizer={
            "vocabulary": tokenizer.vocabulary,
            "end": tokenizer.end,
            "unknown": len(tokenizer.vocabulary) + 1,
        },
    )
    data = TrainData.from_documents(learned, held, tokenizer, 16, windows="padded")
    counted = CountBigram.fit(data.train.ids, tokenizer.vocab_size, got["smoothing"])
    ((ids, targets),) = data.validation_batches(len(got["held"]), 1)
    there = targets != IGNORED
    rows = [
        [row[own].tolist(), next_[own].tolist()]
        for row, next_, own in zip(ids, targets, there, strict=True)
    ]
    assert sorted(rows) == sorted(got["held"])
    assert got["loss"] == pytest.approx(counted(ids, targets)[1].item(), rel=1e-5)


@pytest.mark.parametrize("entry", sorted(path.name for path in HERE.glob("*.js")))
def test_no_two_files_of_a_script_give_two_things_one_name(entry):
    """They become one text, in which the later of two functions of a name would be the one."""
    kinds = r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)"
    code = "\n".join(path.read_text("utf-8") for path in modules(HERE / entry))
    names = Counter(re.findall(kinds, code, re.MULTILINE))
    assert [name for name, count in names.items() if count > 1] == []


PLAN = "{ ...given, layers: 1, width: 16, rate: 0.01, seed: 1 }"


def names() -> dict[str, list[str]]:
    learned, held = load_corpus("names").split(0.1, 0)
    return {"learned": list(learned), "held": list(held)}


def test_a_small_gpt_falls_below_the_pair_counts_and_the_pairs_do_not():
    got = run(
        f"""
        const learning = new Learning({PLAN});
        const before = learning.measured();
        for (let step = 0; step < 400; step++) learning.learn();
        return {{ before, after: learning.measured(), counted: learning.counted }};
        """,
        **names(),
    )
    gpt, pairs = got["after"]["losses"]
    assert gpt < got["counted"] < pairs < got["before"]["losses"][1]
    assert got["before"]["step"] == 0 and got["after"]["step"] == 400
    assert got["before"]["losses"] == pytest.approx([np.log(28)] * 2, rel=0.01)
    assert all(sample["text"].isalpha() for sample in got["after"]["samples"])


def test_what_goes_on_from_what_was_kept_is_the_same_training():
    got = run(
        f"""
        const plan = {PLAN};
        const [whole, first] = [new Learning(plan), new Learning(plan)];
        const learn = (one, steps) => Array.from({{ length: steps }}, () => one.learn());
        learn(whole, 3);
        learn(first, 3);
        const second = new Learning(plan, structuredClone(first.kept()));
        return [learn(whole, 4), learn(second, 4), whole.measured(), second.measured()];
        """,
        **names(),
    )
    assert got[0] == got[1] and got[2] == got[3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to learn"),
        (" \n\n ", "nothing to learn"),
        ("Ada", "3 characters"),
        ("🙂", "1 "),
    ],
)
def test_a_text_that_is_too_short_is_refused(text, said):
    got = run(
        """
        try { return divided(given.text); } catch (error) { return [error.name, error.message]; }
        """,
        text=text,
    )
    assert got[0] == "RangeError" and said in got[1]


def test_any_other_text_is_learned_from():
    texts = [
        "🙂🙃 " * 30,
        "\n".join(f"line {n}" for n in range(60)),
        "x" * 300_000,
        "".join(map(chr, range(300, 900))),
    ]
    got = run(
        """
        return given.texts.map((text) => {
          const { learned, held } = divided(text);
          const plan = { learned, held, layers: 1, width: 8, rate: 0.01, seed: 1 };
          const learning = new Learning(plan);
          const [before] = [learning.measured(), learning.learn()];
          const characters = [...learned, ...held].reduce((sum, one) => sum + [...one].length, 0);
          return { characters, losses: before.losses, lines: learned.length, size: learning.size };
        });
        """,
        texts=texts,
    )
    assert [one["lines"] for one in got] == [1, 54, 1, 1]
    assert got[2]["characters"] == 200_000 and got[3]["size"] == 202
    assert all(np.isfinite(one["losses"]).all() for one in got)
