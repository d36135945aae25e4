"""A finished run as a small folder to ship: float16 weights, tokenizer, curve and card."""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from llmviz.files.paths import BUNDLED_CHECKPOINTS
from llmviz.files.whole import write_whole
from llmviz.models.catalogue import able
from llmviz.models.translator import Translator
from llmviz.training import run_folder
from llmviz.training.checkpoints import MODEL, load_checkpoint
from llmviz.training.evaluate import PROBED, Score, evaluate_documents, probe_scores
from llmviz.training.files import write_json, write_manifest
from llmviz.training.hidden_words import Question, evaluate_hidden, questions
from llmviz.training.measures import distance_to_floor
from llmviz.training.plan import documents_of, plan_of
from llmviz.training.reading import FORK, begun_card
from llmviz.training.tensors import save_tensors
from llmviz.training.translation import evaluate_pairs

CARD = "card.json"
SCORED = 1000  # held-out documents that the card's score is over
LEFT_ONLY = "words-gpt"  # bundled: what a masked-word model of its vocabulary is held against


def export(run: Path | str, target: Path | str, dtype: torch.dtype = torch.float16) -> None:
    """Copy a run's newest weights in a smaller type, with what loading needs.

    The folder holds model.safetensors, config.json, tokenizer.json, metrics.jsonl and a manifest.
    """
    source, folder = Path(run), Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    save_tensors(folder / MODEL, load_checkpoint(source).model, dtype)
    write_json(folder / run_folder.CONFIG, run_folder.read_description(source))
    for name in (run_folder.TOKENIZER, run_folder.METRICS):
        path = source / name
        write_whole(folder / name, partial(shutil.copyfile, path))
    write_manifest(folder, [MODEL, run_folder.CONFIG, run_folder.TOKENIZER, run_folder.METRICS])


def zipped(run: Path | str) -> bytes:
    """Return a run's newest weights as a zip file, with the config and the tokenizer."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        export(run, folder, torch.float32)
        with zipfile.ZipFile(packed, "w") as file:  # weights do not get smaller by packing
            for path in sorted(folder.iterdir()):
                file.write(path, path.name)
    return packed.getvalue()


def finish(run: Path | str, target: Path | str, name: str, probed: int = PROBED) -> dict[str, Any]:
    """Export a run, score the exported model on held-out documents, and write its card.

    probed: probes of each kind, where the corpus has them.
    """
    source, folder = Path(run), Path(target)
    export(source, folder)
    trained = run_folder.load_trained(folder)
    last, checkpoint = run_folder.read_metrics(source)[-1], load_checkpoint(source)
    description = trained.description
    card = {
        **begun_card(name, description),
        "steps": last.step,
        "tokens": last.tokens,
        "seconds": round(last.seconds, 1),
        "environment": checkpoint.environment,
        "weights": "float16",
        "train_loss": last.train_loss,
        "validation_loss": last.validation_loss,
        **({FORK: description[FORK]} if FORK in description else {}),
        **scores(trained, probed=probed),
    }
    write_json(folder / CARD, card)
    return card


def scores(
    trained: run_folder.Trained, limit: int = SCORED, probed: int = PROBED
) -> dict[str, Any]:
    """Losses on held-out documents, floor and `probed` probes a kind where the corpus has them."""
    from llmviz.corpus import entropy_floor

    plan = plan_of(trained.description, "the run")
    _, held_out = documents_of(plan)
    held_out = held_out[:limit]
    if isinstance(trained.model, Translator):
        return {"score": evaluate_pairs(trained.model, trained.tokenizer, held_out).to_dict()}
    if able(plan.model, "hidden_words"):
        hidden = questions(trained.tokenizer, held_out, trained.model.context_length)
        ended = [Question(ids[: place + 1], place) for ids, place in hidden]
        return {
            "score": evaluate_hidden(trained.model, hidden).to_dict(),
            "without_right_side": evaluate_hidden(trained.model, ended).to_dict(),
            **left_only(trained, hidden),
        }
    score: Score = evaluate_documents(trained.model, trained.tokenizer, held_out)
    result: dict[str, Any] = {"score": score.to_dict()}
    if plan.corpus == "tiny-world":
        floor = entropy_floor(held_out, trained.tokenizer)
        result["floor"] = {
            "nats_per_document": floor.per_document,
            "nats_per_token": floor.per_token,
            "nats_per_character": floor.per_character,
            "distance": distance_to_floor(score.per_document, floor.per_document),
        }
        probes = probe_scores(trained.model, trained.tokenizer, count=probed)
        result["probes"] = {kind: probe.of_two.to_dict() for kind, probe in probes.items()}
        result["greedy_probes"] = {kind: probe.greedy.to_dict() for kind, probe in probes.items()}
    return result


def left_only(trained: run_folder.Trained, hidden: Sequence[Question]) -> dict[str, Any]:
    """How a bundled model that reads the left alone answers the same questions.

    Nothing where that model is not there, or has another vocabulary or a shorter context.
    """
    folder = BUNDLED_CHECKPOINTS / LEFT_ONLY
    if not (folder / MODEL).is_file():
        return {}
    other = run_folder.load_trained(folder)
    same = other.tokenizer.to_dict() == trained.tokenizer.to_dict()
    if not same or other.model.context_length < trained.model.context_length:
        return {}
    return {"left_only": {"name": LEFT_ONLY, **evaluate_hidden(other.model, hidden).to_dict()}}
