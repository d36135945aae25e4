"""`quantize`: a model with fewer bits for each weight, its loss before and after, and its size."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from llmviz.cli.options import number, place, table, whole, write, write_json
from llmviz.quantization.scheme import GROUP, PER, Scheme
from llmviz.study.quantized_models import METHODS, ROUNDING

FORMS = ("symmetric", "asymmetric")
MOST_DOCUMENTS = 10_000


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "quantize",
        help="give a model's matrices fewer bits",
        description="Round the matrices of a trained transformer to a grid, print what that does "
        "to its loss and its size, and write it with packed codes. The other commands read what it "
        "writes. Embeddings, the head and norms stay as float16.",
    )
    given = parser.add_argument
    given(
        "checkpoint", type=place, metavar="DIR|NAME", help="a run's folder, or a bundled checkpoint"
    )
    given("--bits", type=whole(0), default=4, help="of a code, 2 to 8; default 4")
    given("--scheme", choices=FORMS, default=FORMS[0], help="of the grid; default symmetric")
    given("--per", choices=PER, default=GROUP, help="what shares a step; default group")
    given("--group", type=whole(0), default=32, help="weights in a group; default 32")
    given(
        "--clip",
        type=number,
        default=1.0,
        help="share of the largest weight that the grid reaches, above 0 to 1; default 1",
    )
    given(
        "--method",
        choices=METHODS,
        default=ROUNDING,
        help="how codes are chosen: awq scales by activations first; default rounding",
    )
    given(
        "--documents",
        type=whole(0, MOST_DOCUMENTS),
        default=100,
        help="held-out texts to measure the loss on; 0 = none; default 100",
    )
    given("--out", type=place, metavar="FOLDER", help="where the quantized model is written")
    given("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Quantize, measure, write."""
    from llmviz.quantization.model import plain_bytes
    from llmviz.study.quantized_models import quantized
    from llmviz.training.files import removed_if_empty
    from llmviz.training.recipes import find_checkpoint
    from llmviz.training.runs import load_trained, prepare_folder

    per_group = {"group": given.group} if given.per == GROUP else {}
    scheme = Scheme(given.bits, given.scheme == FORMS[0], given.per, clip=given.clip, **per_group)
    source = find_checkpoint(given.checkpoint)
    trained = load_trained(source)
    small = quantized(trained.model, trained.tokenizer, scheme, given.method)
    if given.out is None:
        result = _measured(trained, small, given)
    else:
        out = Path(given.out)
        with removed_if_empty(out):
            prepare_folder(out, resume=False)
            result = _measured(trained, small, given)
            _save(out, source, trained, small, given)
    sizes = small.sizes
    result |= {
        "bytes": {"float32": plain_bytes(trained.model), **sizes._asdict(), "all": sizes.total},
        "scheme": scheme.to_dict(),
        "method": given.method,
    }
    if given.json:
        write_json(result)
        return 0
    before = result["bytes"]["float32"]
    rows = [
        ("", "loss, nats per token", "bytes"),
        ("before", _loss(result, "before"), f"{before:,}"),
    ]
    rows.append(("after", _loss(result, "after"), f"{sizes.total:,}"))
    write(table(rows))
    write(
        f"\nBefore: float32. After: {sizes.matrices:,} bytes of quantized matrices with their "
        f"steps and zero points, and {sizes.rest:,} of what stays as float16."
    )
    if given.out is not None:
        write(f"Written to {given.out}.")
    return 0


def _loss(result: dict[str, Any], when: str) -> str:
    return f"{result['loss'][when]:.4f}" if "loss" in result else "not measured"


def _measured(trained: Any, small: Any, given: argparse.Namespace) -> dict[str, Any]:
    """The losses before and after, and on how many tokens."""
    if not given.documents:
        return {}
    from llmviz.models.catalogue import able
    from llmviz.study.held_out_texts import held_out
    from llmviz.training.evaluate import evaluate_documents

    name = trained.description["model"]["name"]
    if not able(name, "next_token"):
        raise ValueError(
            f"the loss is measured of models that predict the next token, and {name} is none; "
            "--documents 0 quantizes without measuring"
        )
    texts = held_out(trained.description, given.documents).texts
    scores = [
        evaluate_documents(model, trained.tokenizer, texts)
        for model in (trained.model, small.model)
    ]
    before, after = (score.per_token for score in scores)
    loss = {"before": before, "after": after, "tokens": scores[0].tokens}
    return {"loss": loss | {"documents": scores[0].documents}}


def _save(out: Path, source: Path, trained: Any, small: Any, given: argparse.Namespace) -> None:
    """Write the folder; what makes it a model comes last."""
    import shutil

    from llmviz.quantization.files import QUANTIZATION, described, save_packed
    from llmviz.training.files import write_json as write_json_file
    from llmviz.training.files import write_manifest
    from llmviz.training.reading import CONFIG, METRICS, MODEL, TOKENIZER
    from llmviz.training.runs import writing
    from llmviz.wholefile import write_whole

    command = (
        f"python -m llmviz quantize {shlex.quote(given.checkpoint)} --bits {given.bits} "
        f"--scheme {given.scheme} --per {given.per} --group {given.group} --clip {given.clip:g} "
        f"--method {given.method} --out {shlex.quote(given.out)}"
    )
    description = trained.description | {
        QUANTIZATION: described(small, given.method),
        "command": command,
    }

    def curve(temporary: Path) -> None:
        if (source / METRICS).is_file():
            shutil.copyfile(source / METRICS, temporary)
        else:
            temporary.write_text("", encoding="utf-8")

    with writing(str(out)):
        save_packed(out / MODEL, small)
        write_whole(out / TOKENIZER, trained.tokenizer.save)
        write_whole(out / METRICS, curve)
        write_json_file(out / CONFIG, description)
        write_manifest(out, [MODEL, TOKENIZER, METRICS, CONFIG])
