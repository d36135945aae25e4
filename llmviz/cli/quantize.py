"""`quantize`: a model with fewer bits for each weight, its loss before and after, and its size.

With --train the model is trained on the grid first (quantization-aware training).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.cli.evaluate import add_corpus, texts_of
from llmviz.cli.options import (
    add_settings,
    chosen,
    number,
    place,
    table,
    typed,
    whole,
    write,
    write_json,
)
from llmviz.config import settings_of
from llmviz.quantization.grid_training import RATE, grid_training
from llmviz.quantization.quantized_models import AWQ, CALIBRATED_ON, METHODS, ROUNDING
from llmviz.quantization.scheme import Scheme

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.quantization.model import QuantizedModel
    from llmviz.training.config import TrainConfig

FORMS = ("symmetric", "asymmetric")
MOST_DOCUMENTS = 10_000
MOST_STEPS = 200_000
TRAINED = "trained"  # the method in config.json of a model that was trained on its grid


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "quantize",
        help="give a model's matrices fewer bits",
        examples=(
            "quantize tiny-world-gpt",
            "quantize tiny-world-gpt --bits 4 --group 32 --out runs/small",
            "quantize runs/mine --bits 3 --train 200 --out runs/smaller",
        ),
        description=(
            "Round the matrices of a trained transformer to a grid. Print its loss and its size "
            "before and after, and write it with packed codes. The other commands can read the "
            "result. Embeddings, the head and norms are stored as float16. With --train the model "
            "is first trained further on its own corpus, with rounded weights (quantization-aware "
            "training), on the CPU."
        ),
    )
    given = parser.add_argument
    given(
        "checkpoint",
        type=place,
        metavar="DIR|NAME",
        help="a run, a bundled checkpoint, or a published model",
    )
    given("--scheme", choices=FORMS, default=FORMS[0], help="of the grid; default symmetric")
    add_settings(parser, Scheme, without=("symmetric",))
    given(
        "--method",
        choices=METHODS,
        default=ROUNDING,
        help="how codes are chosen: awq scales by activations first; default rounding",
    )
    given(
        "--train",
        dest="steps",
        type=whole(0, MOST_STEPS),
        default=0,
        metavar="STEPS",
        help="updates with weights on the grid, before the weights are finally rounded; default 0",
    )
    given(
        "--learning-rate",
        type=number,
        default=RATE,
        help=f"of --train, the highest; default {RATE:g}",
    )
    given(
        "--documents",
        type=whole(0, MOST_DOCUMENTS),
        default=100,
        help="number of held-out texts on which the loss is measured; 0 = none; default 100",
    )
    add_corpus(parser)
    given("--out", type=place, metavar="FOLDER", help="where the quantized model is written")
    given("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Quantize, measure, write."""
    from llmviz.pretrained import find_model
    from llmviz.quantization.model import plain_bytes
    from llmviz.quantization.quantized_models import quantized
    from llmviz.training.files import removed_if_empty
    from llmviz.training.run_folder import prepare_folder

    scheme = Scheme(symmetric=given.scheme == FORMS[0], **chosen(given, settings_of(Scheme)))
    training = None
    if given.steps:
        if given.method != ROUNDING:
            raise ValueError(f"--train goes with --method {ROUNDING}; got --method {given.method}")
        training = grid_training(given.steps, given.learning_rate, threads=0)
    trained = find_model(given.checkpoint)
    source = _source(given.checkpoint)

    def quantize_and_measure() -> tuple[QuantizedModel, dict[str, Any]]:
        texts = _calibration(trained, given) if given.method == AWQ else None
        small = quantized(trained.model, trained.tokenizer, scheme, given.method, texts)
        models = {"before": trained.model, "after": small.model}
        if training is not None:
            models["rounded"] = small.model
            if source is None:
                raise ValueError("--train is for runs: this model does not know its own corpus")
            small = _trained_on_grid(source, trained.model, scheme, training)
            models["after"] = small.model
        return small, _measured(trained, models, given)

    if given.out is None:
        small, result = quantize_and_measure()
    else:
        out = Path(given.out)
        with removed_if_empty(out):
            prepare_folder(out, resume=False)
            small, result = quantize_and_measure()
            _save(out, source, trained, small, given)
    sizes = small.sizes
    result |= {
        "bytes": {"float32": plain_bytes(trained.model), **sizes._asdict(), "all": sizes.total},
        "scheme": scheme.to_dict(),
        "method": _method(given),
    }
    if given.steps:
        result["train"] = {"steps": given.steps, "learning_rate": given.learning_rate}
    if given.json:
        write_json(result)
        return 0
    before = result["bytes"]["float32"]
    rows = [
        ("", "loss, nats per token", "bytes"),
        ("before", _loss(result, "before"), f"{before:,}"),
    ]
    if given.steps:
        rows.append(("rounded without training", _loss(result, "rounded"), f"{sizes.total:,}"))
    rows.append(("after", _loss(result, "after"), f"{sizes.total:,}"))
    write(table(rows))
    write(
        f"\nBefore: float32. After: {sizes.matrices:,} bytes of quantized matrices with their "
        f"steps and zero points, and {sizes.rest:,} bytes of numbers kept as float16."
    )
    if given.out is not None:
        write(f"Written to {given.out}.")
    return 0


def _source(name: str) -> Path | None:
    """The folder of a run, which knows its corpus and its curve; None for other models."""
    from llmviz.models.published import is_published
    from llmviz.runs.named import find_checkpoint
    from llmviz.runs.store import PREFIX, find_run, split_name
    from llmviz.training.errors import CheckpointError

    if name.startswith(PREFIX):
        return find_run(split_name(name)[0])
    try:
        folder = find_checkpoint(name)
    except CheckpointError:
        return None
    return None if is_published(folder) else folder


def _calibration(trained: Any, given: argparse.Namespace) -> list[str] | None:
    """What awq chooses its scales on; None for new stories of tiny-world.

    Of --corpus, what stands behind the texts on which the loss is measured, if there is more.
    """
    from llmviz.quantization.awq import check_scalable
    from llmviz.training.held_out_texts import knows_held_out, learned

    check_scalable(trained.model)  # before a note is written
    if given.corpus is not None:
        texts = texts_of(given.corpus, given.column)
        return texts[given.documents :] or texts
    if knows_held_out(trained.description):
        return learned(trained.description, CALIBRATED_ON)
    sys.stderr.write(
        "note: awq chooses its scales on stories of tiny-world, because what this model learned "
        "from is unknown; --corpus names a text that fits it better\n"
    )
    return None


def _method(given: argparse.Namespace) -> str:
    return TRAINED if given.steps else given.method


def _trained_on_grid(
    source: Path, model: LanguageModel, scheme: Scheme, config: TrainConfig
) -> QuantizedModel:
    """Train a model on a grid, with a progress bar on standard error, and round it."""
    from tqdm import tqdm

    from llmviz.quantization.qat import finish_qat, prepare_qat
    from llmviz.training import train
    from llmviz.training.plan import prepare_again

    own = prepare_qat(model, scheme)
    data = prepare_again(source).data
    with tqdm(total=config.steps, unit="step", disable=None, file=sys.stderr) as bar:
        for record in train(own, data, config):
            bar.update(record.step - bar.n)
            bar.set_postfix_str(f"train {record.train_loss:.3f}")
    return finish_qat(own.eval())


def _loss(result: dict[str, Any], when: str) -> str:
    return f"{result['loss'][when]:.4f}" if "loss" in result else "not measured"


def _measured(
    trained: Any, models: dict[str, LanguageModel], given: argparse.Namespace
) -> dict[str, Any]:
    """The loss of each model, and on how many tokens."""
    if not given.documents:
        return {}
    from llmviz.models.catalogue import able
    from llmviz.training.evaluate import evaluate_documents
    from llmviz.training.held_out_texts import held_out, knows_held_out

    name = trained.description["model"]["name"]
    if not able(name, "next_token"):
        raise ValueError(
            f"{name} does not predict the next token, so its loss cannot be measured here; "
            "--documents 0 quantizes without measuring"
        )
    if given.corpus is not None:
        texts = texts_of(given.corpus, given.column)[: given.documents]
    elif knows_held_out(trained.description):
        texts = held_out(trained.description, given.documents).texts
    else:
        sys.stderr.write(
            "note: the loss is not measured, because what was held out for this model is unknown; "
            "--corpus names a text to measure it on\n"
        )
        return {}
    scores = {
        name: evaluate_documents(model, trained.tokenizer, texts) for name, model in models.items()
    }
    first = scores["before"]
    loss = {name: score.per_token for name, score in scores.items()}
    return {"loss": loss | {"tokens": first.tokens, "documents": first.documents}}


def _save(
    out: Path, source: Path | None, trained: Any, small: Any, given: argparse.Namespace
) -> None:
    """Write the folder, whole or not at all."""
    import shutil

    from llmviz.files.whole import write_whole, writing
    from llmviz.quantization.files import QUANTIZATION, described, save_packed
    from llmviz.training.files import whole_folder, write_manifest
    from llmviz.training.files import write_json as write_json_file
    from llmviz.training.reading import CONFIG, METRICS, MODEL, TOKENIZER

    description = trained.description | {
        QUANTIZATION: described(small, _method(given)),
        "command": typed(given),
    }

    def curve(temporary: Path) -> None:
        if source is not None and (source / METRICS).is_file():
            shutil.copyfile(source / METRICS, temporary)
        else:
            temporary.write_text("", encoding="utf-8")

    with writing(str(out)), whole_folder(out) as new:
        save_packed(new / MODEL, small)
        write_whole(new / TOKENIZER, trained.tokenizer.save)
        write_whole(new / METRICS, curve)
        write_json_file(new / CONFIG, description)
        write_manifest(new, [MODEL, TOKENIZER, METRICS, CONFIG])
