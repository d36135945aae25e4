"""Folders that look like runs and are not: one healthy run, and what may be wrong with it."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from llmviz.models import GPT, GPTConfig
from llmviz.tokenizers import train_tokenizer
from llmviz.tokenizers.files import checksum
from llmviz.training.checkpoints import Checkpoint, save_checkpoint
from llmviz.training.config import Plan, TrainConfig
from llmviz.training.files import MANIFEST, write_manifest
from llmviz.training.run_folder import describe
from llmviz.training.tensors import load_tensors, save_tensors
from llmviz.training.train_record import TrainRecord

DEEP = '{"a":' * 2_000 + "1" + "}" * 2_000
LESS_DEEP = '{"a":' * 500 + "1" + "}" * 500
MARKUP = "http://evil.example/![x](http://evil.example) <b> :red[a] $x$ __a__"

Tamper = Callable[[Path], None]
_C, _T, _M, _W = "config.json", "tokenizer.json", "metrics.jsonl", "model.safetensors"
OUT = object()  # of an entry that is not there


def nothing(path: Path) -> None:
    """Make nothing."""


def healthy(folder: Path, points: int = 20) -> Path:
    """A run as training leaves it, of a tiny GPT with random weights."""
    folder.mkdir(parents=True)
    tokenizer = train_tokenizer("char", ["anna met bob", "bob met anna"], None)
    plan = Plan(
        corpus="names",
        context_length=8,
        model_options={"n_layer": 1, "n_head": 2, "n_embd": 8},
        train=TrainConfig(steps=2 * points, warmup_steps=1),
    )
    torch.manual_seed(0)
    sizes = {"vocab_size": tokenizer.vocab_size, "context_length": 8, **plan.model_options}
    model = GPT(GPTConfig.from_dict(sizes))
    tokenizer.save(folder / "tokenizer.json")
    known = {"uniform": 3.0, "unigram": 2.5, "bigram": 2.0, "floor": None, "tokens": 9, "bytes": 9}
    data = {"corpus": "names", "documents": 2, "validation_documents": 1, "references": known}
    about = describe("gpt", model, tokenizer, plan.train, data, "python -m llmviz train")
    fork = {"of": "other", "step": 1, "changes": {"steps": 3}}
    about |= {"plan": plan.to_dict(), "fork": fork}
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "metrics.jsonl").write_text("".join(map(line, range(1, points + 1))), "utf-8")
    kept = Checkpoint(points, 8 * points, 1.0, dict(model.state_dict()), {}, {}, {})
    save_checkpoint(folder, kept)
    return folder


def spoil_weights(folder: Path, name: str, value: float) -> None:
    """Put a value into a tensor of a checkpoint's or a run's weights; a manifest knows of it."""
    tensors = load_tensors(folder / "model.safetensors")
    tensors[name].view(-1)[0] = value
    (folder / "model.safetensors").unlink()  # other files may be this one, too
    save_tensors(folder / "model.safetensors", tensors)
    if (folder / MANIFEST).exists():
        listed = json.loads((folder / MANIFEST).read_text("utf-8"))["files"]
        write_manifest(folder, list(listed))


def line(step: int, /, **other: Any) -> str:
    """A line of a curve."""
    measured = 2.0 if step % 5 == 0 else None
    record = TrainRecord(step, 8 * step, 2.5, measured, 1e-3, 1.0, 100.0, step / 10.0)
    return json.dumps(json.loads(record.to_json()) | other) + "\n"


def says(*path: str, value: Any) -> Tamper:
    """Set an entry of config.json, or take it out."""

    def tamper(folder: Path) -> None:
        about = part = json.loads((folder / _C).read_text(encoding="utf-8"))
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] = value
        if value is OUT:
            del part[path[-1]]
        (folder / _C).write_text(json.dumps(about), encoding="utf-8")

    return tamper


def becomes(name: str, make: Callable[[Path], Any]) -> Tamper:
    """Put what is made in the place of a file; nothing, where nothing is made."""

    def tamper(folder: Path) -> None:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        make(path)

    return tamper


def holds(name: str, content: str | bytes) -> Tamper:
    """Let a file hold something else."""
    raw = content.encode("utf-8") if isinstance(content, str) else content
    return becomes(name, lambda path: path.write_bytes(raw))


def zeros(path: Path) -> None:
    """Write so many zeros that they would fill the memory, and take no room on the disk."""
    with path.open("wb") as file:
        file.truncate(10**9)


def tokenizer(**changes: Any) -> Tamper:
    """Change a tokenizer's file, with the right checksum."""

    def tamper(folder: Path) -> None:
        path = folder / "tokenizer.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        content.pop("sha256")
        content.update(changes)
        content["sha256"] = checksum(content)
        path.write_text(json.dumps(content), encoding="utf-8")

    return tamper


def other_tokenizer(text: str) -> Tamper:
    """Put in the tokenizer of another text."""
    return lambda folder: train_tokenizer("char", [text], None).save(folder / "tokenizer.json")


def weights(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Tamper:
    """Change the weights, without a checkpoint that would know better."""
    return lambda folder: save_tensors(folder / _W, change(_taken(folder)))


def tied(header: str) -> Tamper:
    """Say nonsense on which tensors are the same."""
    said = {"format": "pt", "tied": header}
    return lambda folder: save_file(_taken(folder), folder / _W, metadata=said)


def _taken(folder: Path) -> dict[str, torch.Tensor]:
    tensors = load_file(folder / _W)
    bare(becomes(_W, nothing))(folder)
    return tensors


def bare(*tampers: Tamper) -> Tamper:
    """Delete the checkpoints, then do the rest."""

    def tamper(folder: Path) -> None:
        shutil.rmtree(folder / "checkpoints")
        for one in tampers:
            one(folder)

    return tamper


def in_checkpoint(tamper: Tamper) -> Tamper:
    """Do something to the only checkpoint."""
    return lambda folder: tamper(next((folder / "checkpoints").iterdir()))


SIZES: dict[str, tuple[str, dict[str, Any]]] = {
    "layers": (
        "n_layer",
        {"1e9": 10**9, "900": 900, "-1": -1, "text": "2", "1.5": 1.5, "true": True, "none": None},
    ),
    "width": ("n_embd", {"1e12": 10**12, "1e6": 10**6}),
    "heads": ("n_head", {"1e12": 10**12}),
    "vocabulary": ("vocab_size", {"1e12": 10**12}),
    "context": ("context_length", {"1e12": 10**12, "1e7": 10**7}),
}
TAMPERED: dict[str, Tamper] = {
    "config nested": holds(_C, DEEP),
    "config nested less": says("data", "x", value=json.loads(LESS_DEEP)),
    "config large": says("command", value="x" * 6_000_000),
    "config digits": holds(_C, '{"format": ' + "9" * 5_000 + "}"),
    "config NaN": holds(_C, '{"format": NaN}'),
    "config infinite": says("train", "lr", value=float("inf")),
    "config list": holds(_C, "[]"),
    "config empty": holds(_C, ""),
    "config bytes": holds(_C, b"\xff\xfe\x00"),
    "config pipe": becomes(_C, os.mkfifo),
    "config folder": becomes(_C, Path.mkdir),
    "config circle": becomes(_C, lambda path: path.symlink_to(path)),
    **{
        f"{name} {words}": says("model", "config", field, value=value)
        for name, (field, values) in SIZES.items()
        for words, value in values.items()
    },
    "hidden list": says("model", "config", "hidden_size", value=[1]),
    "unknown setting": says("model", "config", "evil", value=1),
    "model list": says("model", value=[]),
    "model text": says("model", value="gpt"),
    "model none": says("model", value=None),
    "model name": says("model", "name", value=7),
    "model markup": says("model", "name", value=MARKUP),
    "model other": says("model", "name", value="word2vec"),
    "model gru": says("model", "name", value="gru"),
    "model seq2seq": says("model", "name", value="seq2seq"),
    "model lacks config": says("model", "config", value=OUT),
    "train none": says("train", value=None),
    "train steps": says("train", "steps", value="many"),
    "train steps 1e18": says("train", "steps", value=10**18),
    "train lacks steps": says("train", "steps", value=OUT),
    "data list": says("data", value=[1]),
    "corpus number": says("data", "corpus", value=3),
    "corpus markup": says("data", "corpus", value=MARKUP),
    "references text": says("data", "references", value="x"),
    "references zero": says("data", "references", "bytes", value=0),
    "references list": says("data", "references", "unigram", value=[]),
    "references lack": says("data", "references", "uniform", value=OUT),
    "plan list": says("plan", value=[]),
    "plan text": says("plan", value="x"),
    "plan train": says("plan", "train", value="x"),
    "plan fraction": says("plan", "fraction", value="x"),
    "plan options": says("plan", "model_options", value=[1]),
    "plan options deep": says("plan", "model_options", value={"n_layer": {"a": [1]}}),
    "plan layers": says("plan", "model_options", value={"n_layer": 10**9}),
    "plan corpus": says("plan", "corpus", value=MARKUP),
    "plan corpus number": says("plan", "corpus", value=5),
    "plan steps": says("plan", "train", "steps", value=10**18),
    "plan unknown": says("plan", "evil", value=1),
    "fork text": says("fork", value="x"),
    "fork changes": says("fork", "changes", value={"steps": [1]}),
    "fork before": says("fork", "before", value=[1]),
    "fork before changes": says(
        "fork", "before", value={"of": "a", "step": 1, "changes": {"a": []}}
    ),
    "fork before step": says("fork", "before", value={"of": "a", "step": True, "changes": {}}),
    "fork of": says("fork", "of", value=MARKUP),
    "parameters text": says("parameters", value="many"),
    "command number": says("command", value=1),
    "command markup": says("command", value=MARKUP),
    "tokenizer pipe": becomes(_T, os.mkfifo),
    "tokenizer gone": becomes(_T, nothing),
    "tokenizer nested": holds(_T, DEEP),
    "tokenizer zeros": becomes(_T, zeros),
    "tokenizer larger": other_tokenizer("abcdefghijklmnopqrstuvwxyz"),
    "tokenizer smaller": other_tokenizer("ab"),
    "tokenizer no end": tokenizer(special_tokens={}),
    "tokenizer special": tokenizer(special_tokens=[1]),
    "tokenizer kind": tokenizer(kind="bpe"),
    "tokenizer characters": tokenizer(characters=7, tokens=7, vocabulary=7),
    "curve pipe": becomes(_M, os.mkfifo),
    "curve folder": becomes(_M, Path.mkdir),
    "curve gone": becomes(_M, nothing),
    "curve garbage": holds(_M, "garbage\n"),
    "curve nested": holds(_M, DEEP + "\n"),
    "curve NaN": holds(_M, line(1, train_loss=float("nan"))),
    "curve types": holds(_M, line(1, train_loss="2")),
    "curve digits": holds(_M, line(1).replace('"tokens": 8', '"tokens": ' + "9" * 5_000)),
    "curve step": holds(_M, line(1) + line(2, step=10**15)),
    "curve backwards": holds(_M, "".join(map(line, range(20, 0, -1)))),
    "curve sample": holds(_M, line(1, sample=5)),
    "curve markup": holds(_M, line(1, sample=MARKUP, notes=[MARKUP])),
    "curve notes": holds(_M, line(1, notes="x")),
    "curve unknown": holds(_M, line(1, evil=1)),
    "curve large loss": holds(_M, line(1, train_loss=1e308) + line(2, grad_norm=1e308)),
    "curve long line": holds(_M, line(1, sample="x" * 2_000_000)),
    "curve zeros": becomes(_M, zeros),
    "weights pipe": bare(becomes(_W, os.mkfifo)),
    "weights gone": bare(becomes(_W, nothing)),
    "weights empty": bare(holds(_W, b"")),
    "weights garbage": bare(holds(_W, b"garbage" * 99)),
    "weights header": bare(holds(_W, (2**60).to_bytes(8, "little") + b"{}")),
    "weights zeros": bare(becomes(_W, zeros)),
    "weights shapes": weights(
        lambda t: {name: torch.zeros(3, *one.shape) for name, one in t.items()}
    ),
    "weights other": weights(lambda tensors: {"a": torch.zeros(2)}),
    "weights NaN": weights(lambda t: {k: v * float("nan") for k, v in t.items()}),
    "weights whole": weights(lambda t: {k: v.to(torch.int64) for k, v in t.items()}),
    "weights tied list": tied("[1]"),
    "weights tied deep": tied(DEEP),
    "weights tied to none": tied('{"a": "b"}'),
    "checkpoints file": bare(holds("checkpoints", b"x")),
    "checkpoint of no step": lambda folder: (
        folder / "checkpoints" / ("step-" + "9" * 400)[:250]
    ).mkdir(),
    "checkpoint far": lambda folder: (folder / "checkpoints" / "step-999999999999").mkdir(),
    "checkpoint empty": lambda folder: (folder / "checkpoints" / "step-000099").mkdir(),
    "state pipe": in_checkpoint(becomes("state.json", os.mkfifo)),
    "state nested": in_checkpoint(holds("state.json", DEEP)),
    "manifest list": in_checkpoint(holds("manifest.json", '{"files": []}')),
    "manifest types": in_checkpoint(holds("manifest.json", '{"files": {"state.json": 3}}')),
    "manifest outside": in_checkpoint(
        holds("manifest.json", '{"files": {"../../config.json": {"bytes": 1, "sha256": ""}}}')
    ),
    "manifest gone": in_checkpoint(becomes("manifest.json", nothing)),
}


def tamper_all(home: Path, names: list[str] | None = None) -> dict[str, Path]:
    """Copies of one healthy run below `home`, each tampered with; by what is wrong."""
    source = healthy(home / "healthy")
    made = {}
    for name in TAMPERED if names is None else names:
        folder = home / name.replace(" ", "-")
        shutil.copytree(source, folder)
        TAMPERED[name](folder)
        made[name] = folder
    return made
