"""`train`: a model on a corpus, into a folder.

`--config` takes settings from a TOML file, as if they had been typed; what was typed counts more.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.cli.options import (
    Interruption,
    add_run_options,
    add_settings,
    chosen,
    named,
    place,
    setting,
    typed,
    whole,
    write,
    write_json,
)
from llmviz.config import settings_of
from llmviz.files.nearest import nearest
from llmviz.training.config import Plan, TrainConfig
from llmviz.training.curve_logs import LOGS
from llmviz.training.settings_file import UNSET, read_settings

if TYPE_CHECKING:
    from llmviz.training.curve_logs import CurveLog
    from llmviz.training.run_folder import Run
    from llmviz.training.train_record import TrainRecord


LARGE = 2_000_000  # characters, tokens or bytes from which on a step of the work takes a second
PARTS = 10  # lines that a step of the work has at most


class Preparing:
    """Lines on standard error about large texts: what is done with them, and how far that is.

    quiet: says nothing, as all processes of a run do but the first. stop: whether Ctrl-C came; the
    work then ends where it is heard of next, by KeyboardInterrupt, since nothing is lost yet.
    """

    def __init__(self, *, quiet: bool = False, stop: Callable[[], bool] = lambda: False) -> None:
        self._quiet, self._stop = quiet, stop
        self._last: tuple[str, int] | None = None

    def __call__(self, what: str, done: int, total: int, unit: str) -> None:
        """Hear of some work, as `llmviz.training.data.Tell` has it."""
        if self._stop():
            raise KeyboardInterrupt
        part = what, PARTS * done // max(1, total)
        if self._quiet or total < LARGE or part == self._last:
            return
        self._last = part
        far = f"{done:,} of " if done else ""
        sys.stderr.write(f"{what}: {far}{total:,} {unit}\n")

    def reading(self, corpus: str) -> None:
        """Say how large a text of the user's is, before anything is imported that takes long."""
        from llmviz.corpus.sources import files_of

        try:
            size = sum(path.stat().st_size for path in files_of(corpus))
        except (OSError, ValueError):  # a bundled text, or what is refused in a moment
            return
        self(f"the text {corpus}", 0, size, "bytes")


NOT_SETTINGS = ("help", "out", "config", "resume", "json")


def take_settings(given: argparse.Namespace, read: Any) -> None:
    """Fill what was not given with the settings of the file that `given.config` names.

    read: gives the file's settings by name. Each has to pass what its option has to.
    Raises ValueError for a name that is no option of the command, with the nearest ones, and for a
    value that its option would refuse.
    """
    path = Path(given.config)
    options = {
        word[2:]: action
        for action in given.parser._actions
        for word in action.option_strings
        if word.startswith("--") and action.dest not in NOT_SETTINGS
    }
    typed = {name for name, _ in given.settings}
    sizes = {"n_layer", "n_head", "n_embd"}
    typed |= {name for name in sizes if getattr(given, name) is not None}
    for name, value in read(path).items():
        action = options.get(name.replace("_", "-"))
        if action is None:
            near = ", ".join(nearest(name, options))
            raise ValueError(f"{path} has a setting {name!r}, which does not exist; {near} do")
        if action.dest == "settings":
            if not isinstance(value, dict):
                raise ValueError(f"{path}: {name} must be a table of settings; got {value!r:.80}")
            given.settings += [setting for setting in value.items() if setting[0] not in typed]
        elif getattr(given, action.dest) is None and action.dest not in typed:
            setattr(given, action.dest, _value(action, value, f"{path}: {name}"))


def _value(action: argparse.Action, value: Any, name: str) -> Any:
    """A value as its option makes it of what is typed."""
    if action.nargs == 0:  # a switch
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false; got {value!r:.80}")
        return value or None
    several = action.nargs == "+" or isinstance(action, argparse._AppendAction)
    if isinstance(value, list) and several:
        if not value:
            raise ValueError(f"{name} must not be empty")
        return [_one(action, part, name) for part in value]
    single = _one(action, value, name)
    return [single] if several else single


def _one(action: argparse.Action, value: Any, name: str) -> Any:
    takes_text = action.type in (None, str) or getattr(action.type, "__name__", "") == "named"
    if takes_text != isinstance(value, str) or isinstance(value, bool | list | dict):
        kind = "a text" if takes_text else "a number"
        raise ValueError(f"{name} must be {kind}; got {value!r:.80}")
    try:
        read = value if action.type is None else action.type(str(value))  # type: ignore[operator]  # a function: argparse also takes names
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{name} {error}") from None
    if action.choices is not None and read not in action.choices:
        listed = ", ".join(map(str, action.choices))
        raise ValueError(f"{name} must be one of {listed}; got {value!r:.80}")
    return read


# defaults that follow from other options
FOLLOWING = {"min_lr": "a tenth of --lr", "warmup_steps": "a tenth of --steps, at most 100"}
SIZES = {"n_layer": "layers", "n_head": "attention heads", "n_embd": "width"}
OWN = ("model", "corpus", "tokenizer")  # settings of the plan with options that say more


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "train",
        help="train a model on a bundled corpus or on a text file",
        examples=(
            "train --corpus my-text.txt --out runs/mine",
            "train --corpus names --model lstm --steps 500 --out runs/names",
            "train --tokenizer bpe --n-layer 4 --n-head 4 --n-embd 192 --out runs/world",
            "train --from tiny-world-gpt --corpus my-text.txt --lora 8 --out runs/tuned",
            "train --out runs/mine --resume --steps 2000",
            "train --config runs/mine/run.toml --lr 3e-4 --patience 5 --out runs/slower",
        ),
        description=(
            "Train a model. The folder OUT gets metrics.jsonl, model.safetensors, config.json, "
            "tokenizer.json and the files for resuming. Under torchrun the training is "
            "data-parallel."
        ),
    )
    given = parser.add_argument
    given("--out", type=place, required=True, metavar="OUT", help="folder of the run")
    given(
        "--model",
        help=(
            "name in the registry (see `models`); default gpt. The defaults of word2vec are words, "
            "lr 0.03 and no weight decay; those of seq2seq are the words of the corpus pairs"
        ),
    )
    given(
        "--from",
        dest="base",
        type=named,
        metavar="DIR|NAME",
        help="go on from a trained model, with its tokenizer: a run, a bundled checkpoint, or a "
        "published model of the type GPT-2 or Llama. The context is then its own, lr 3e-4",
    )
    given(
        "--lora",
        type=whole(1),
        metavar="RANK",
        help="with --from: train changes of this rank beside its matrices, not the matrices; they "
        "are added in when the model is read",
    )
    given(
        "--corpus",
        nargs="+",
        metavar="NAME|FILE",
        help="bundled name (see `corpus list`), a file, a folder or a pattern, or several of them: "
        ".txt, .md, .jsonl, .parquet, also with .gz or .zst behind it; default tiny-world",
    )
    given(
        "--tokenizer",
        help="char, word, bpe (trained here), gpt2 …; default char, for word2vec and seq2seq word",
    )
    add_settings(parser, Plan, without=(*OWN, *UNSET))
    for name, meaning in SIZES.items():
        flag = f"--{name.replace('_', '-')}"
        given(flag, type=whole(1), help=f"{meaning} of the model, where it has them")
    given(
        "--set",
        dest="settings",
        metavar="NAME=VALUE",
        type=setting,
        action="append",
        default=[],
        help="any other setting of the model, such as positions=rotary, or activation=gelu_tanh, "
        "without which `export --to gguf` takes no GPT-2",
    )
    add_settings(parser, TrainConfig, defaults=FOLLOWING)
    given(
        "--config",
        type=place,
        metavar="FILE",
        help="settings from a TOML file, named as these options; what is typed counts more. Each "
        "run writes its own, OUT/run.toml",
    )
    given(
        "--log",
        choices=LOGS,
        action="append",
        help="the curve for other programs, too: OUT/metrics.csv, or OUT/tensorboard/, which needs "
        "tensorboard; may be given twice",
    )
    add_run_options(parser, run)


def run(given: argparse.Namespace) -> int:
    """Train until the end, or until Ctrl-C: then save and return 130."""
    if given.config is not None:
        take_settings(given, read_settings)
    sources = given.corpus or []
    given.corpus, given.files = next(iter(sources), None), tuple(sources[1:]) or None
    interruption = Interruption()
    quiet = os.environ.get("RANK", "0") != "0"  # as torchrun numbers them
    preparing = Preparing(quiet=quiet, stop=interruption)
    if given.corpus and not given.resume:  # said before torch is imported, which takes seconds
        for source in sources:
            preparing.reading(source)

    from llmviz.training import distributed
    from llmviz.training.files import removed_if_empty
    from llmviz.training.memory import keep_freed_memory

    keep_freed_memory()
    with (
        distributed.joined(given.device or "auto") as world,
        interruption.watched(),
        removed_if_empty(Path(given.out)) if world.leads else contextlib.nullcontext(),
    ):
        prepared = _prepared(given, preparing)
        resume = given.resume or given.base is not None  # from its checkpoint of step 0
        logs = [LOGS[name] for name in dict.fromkeys(given.log or ())] if world.leads else []
        show(
            prepared,
            given.out,
            interruption,
            resume=resume,
            leads=world.leads,
            json=given.json,
            logs=logs,
        )
    return interruption.exit_code


def show(
    prepared: Run,
    out: str,
    interruption: Interruption,
    *,
    resume: bool,
    leads: bool = True,
    json: bool = False,
    logs: Sequence[Callable[[Path], CurveLog]] = (),
) -> None:
    """Run with a progress bar on standard error; `json`: records on standard output.

    Where either is no terminal, as behind a pipe, a line to standard output at each validation.
    logs: what writes the curve for other programs.
    The last line names the folder; where its losses were written just before, it says no more.
    """
    from tqdm import tqdm

    from llmviz.cli.train_header import header
    from llmviz.files.whole import writing
    from llmviz.training.newest_weights import newest_step
    from llmviz.training.run_folder import run_in_folder
    from llmviz.training.samples import sampler
    from llmviz.training.schedule import warmup_note

    config = prepared.config
    note = warmup_note(config)
    if note and leads:
        sys.stderr.write(f"{note}\n")
    if resume and leads and newest_step(out) is None:
        sys.stderr.write(f"note: nothing is saved in {out} yet; the run begins at its first step\n")
    lines, prepared = header(prepared, Path(out), resume=resume, ended=interruption)
    if leads:
        sys.stderr.write(f"{lines}\n")
    written_to = [log(Path(out)) for log in logs]
    records = run_in_folder(
        out, prepared, resume=resume, stop=interruption, sample=sampler(prepared)
    )
    bar = tqdm(total=config.steps, unit="step", disable=None if leads else True, file=sys.stderr)
    last = validation = written = None
    with contextlib.ExitStack() as stack:
        stack.enter_context(bar)
        for log in written_to:
            stack.enter_context(contextlib.closing(log))
        stack.enter_context(contextlib.closing(records))
        for record in records:
            for log in written_to:
                with writing(f"the curve in {out}"):
                    log.add(record)
            for note in record.notes if leads else ():
                bar.write(f"note: {note}", file=sys.stderr)
            validation = record.validation_loss or validation
            bar.update(record.step - bar.n)
            bar.set_postfix_str(
                f"train {record.train_loss:.3f}"
                + (f", validation {validation:.3f}" if validation else "")
                + f", {record.tokens_per_second:,.0f} tokens/s"
            )
            if leads and json:
                write_json(dataclasses.asdict(record))
            elif leads and record.sample:
                bar.write(f"--- step {record.step}\n{record.sample}", file=sys.stderr)
            by_line = bar.disable or not sys.stdout.isatty()
            ends = record.step == config.steps  # the last line says it
            if leads and not json and by_line and record.validation_loss is not None and not ends:
                written = record.step
                with bar.external_write_mode(file=sys.stdout):
                    write(f"{_losses(record, validation)}; {record.seconds:,.0f} s")
            last = record
    if leads and not json:
        if last is None:
            write(_at_its_end(out, config.steps))
        elif last.step == written:  # it was interrupted after a validation
            write(f"saved in {out}")
        else:
            write(f"{_losses(last, validation)}; {last.seconds:,.0f} s; in {out}")


def _at_its_end(out: str, steps: int) -> str:
    """Why a run that was to go on made no step."""
    from llmviz.training.newest_weights import newest_step

    done = newest_step(out) or 0
    if done < steps:
        return f"{out} ended early, at step {done}; --patience 0 lets it go on"
    return f"{out} is already at its last step, {steps}"


def _losses(record: TrainRecord, validation: float | None) -> str:
    loss = "" if validation is None else f", validation loss {validation:.4f} nats"
    return f"step {record.step}: train loss {record.train_loss:.4f}{loss}"


def _prepared(given: argparse.Namespace, preparing: Preparing) -> Run:
    """The run of the arguments; with --resume that of the folder, if it holds one."""
    from llmviz.cli.resume import changes_of, take_folder
    from llmviz.training import distributed
    from llmviz.training.plan import plan_from, plan_of, prepare, prepare_again
    from llmviz.training.reading import CONFIG, read_description

    out = Path(given.out)
    changes = chosen(given, settings_of(TrainConfig))
    planned = chosen(given, [field.name for field in dataclasses.fields(Plan)])
    options = chosen(given, SIZES)
    options.update(given.settings)
    world, refusal = distributed.current(), ""
    if given.resume and (out / CONFIG).exists():
        changes = changes_of(out, planned, options, changes)
        preparing.reading(plan_of(read_description(out), str(out)).corpus)
        return prepare_again(out, preparing, **changes)
    if world.leads:
        try:
            take_folder(out, resume=given.resume)
        except ValueError as error:
            refusal = str(error)
    if refusal := world.from_leader(refusal):
        raise ValueError(refusal)
    command = typed(given)
    if given.base is None:
        return prepare(plan_from(planned, options, changes), command, tell=preparing)
    from llmviz.pretrained import find_model
    from llmviz.training.starting import begin_from, plan_of_base

    base = find_model(given.base)
    return begin_from(base, plan_of_base(base, planned, options, changes), out, command, preparing)
