"""Pictures of the lessons for a notebook, each of a model, a text or a run.

T tokens, L layers, H heads, V vocabulary.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.show.widget import picture

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from torch import nn

    from llmviz.tokenizers import Tokenizer

SHOWN = 12  # bars of the sampler
SLIDERS = ("temperature", "top_k", "top_p", "min_p")


def _given(model: Any) -> tuple[nn.Module, Tokenizer]:
    """Return the network and the tokenizer of a model.

    model: a name or a folder as `llmviz.load` takes it, or what that returns, or the network and
      its tokenizer.
    Raises ValueError for another thing, and where no model has the name.
    """
    if isinstance(model, (str, Path)):
        from llmviz.pretrained import find_model

        trained = find_model(model)
        return trained.model, trained.tokenizer
    if isinstance(model, tuple) and len(model) >= 2:
        return model[0], model[1]
    if hasattr(model, "module") and hasattr(model, "tokenizer"):
        return model.module, model.tokenizer
    raise ValueError(
        "a model is its name or folder, what llmviz.load returns, or a network and its tokenizer; "
        f"got {type(model).__name__}"
    )


def _read(model: Any, text: str) -> tuple[nn.Module, Tokenizer, list[int], list[str]]:
    """Return the network, its tokenizer, the ids of a text as it reads it and how they are shown.

    Raises ValueError for a text that is longer than the context.
    """
    from llmviz.course.ui.model_on_text import names_of

    network, tokenizer = _given(model)
    ids = tokenizer.encode_from_start(text)
    if len(ids) > network.context_length:
        raise ValueError(
            f"the text is {len(ids):,} tokens long; the model reads {network.context_length:,}"
        )
    if not ids:
        raise ValueError("there is no token in the text")
    return network, tokenizer, ids, names_of(ids, tokenizer)


def tokens(tokenizers: Any, text: str) -> Any:
    """Show a text cut into tokens.

    tokenizers: the name of one (`gpt2`), a tokenizer, a model, or a mapping of several by name,
      whose tokens then stand under each other.
    """
    from llmviz.course.components.token_strip.view import TokenRow, token_strip

    several = tokenizers if isinstance(tokenizers, dict) else {"": tokenizers}
    rows = []
    for name, tokenizer in several.items():
        cut = _tokenizer(tokenizer).tokens(text)
        rows.append(TokenRow(name, cut, note=f"{len(cut)} tokens"))
    mode = "aligned" if len(rows) > 1 else "chips"
    return picture(token_strip, rows, text=text, mode=mode, height=130 + 70 * len(rows))


def _tokenizer(given: Any) -> Tokenizer:
    from llmviz.pretrained import bundled
    from llmviz.tokenizers import get_tokenizer

    if isinstance(given, str) and given not in bundled():
        return get_tokenizer(given)
    return given if hasattr(given, "encode_from_start") else _given(given)[1]


def attention(model: Any, text: str) -> Any:
    """Show where every head looks on a text: a map for each of L × H, one as lines."""
    from llmviz.course.components.heads_grid.view import heads_grid
    from llmviz.interpretability.heads_on_text import head_maps

    network, _, ids, names = _read(model, text)
    maps = head_maps(network, ids).maps
    return picture(heads_grid, maps, tokens=names, chosen=(0, 0), lines=True, height=820)


def lens(model: Any, text: str) -> Any:
    """Show what a transformer would say next if it stopped after each layer, at every token."""
    from llmviz.course.components.cell_grid.view import cell_grid
    from llmviz.course.lessons.transformer.stream import words
    from llmviz.course.lessons.transformer.stream.chapter import colours, lines_of, point_names
    from llmviz.interpretability.lens import logit_lens

    network, tokenizer, ids, names = _read(model, text)
    known = logit_lens(network, ids)
    texts, notes = lines_of(known, tokenizer)
    low, high = words.scales["probability"]
    return picture(
        cell_grid,
        colours(known, "probability"),
        row_names=point_names(len(texts)),
        column_names=names,
        texts=texts,
        notes=notes,
        limit=1.0,
        scale=(low, high.format(most=math.log(network.vocab_size))),
        label=words.grid,
    )


def ledger(
    model: Any, text: str, token: str | None = None, *, against: str | None = None
) -> go.Figure:
    """Show what each part of a transformer adds to a logit after the last token, as a chart.

    token: the one whose logit is taken apart, the most probable one if not given. against: another
      one; the bars are then of the difference of both logits.
    """
    from llmviz.course.figures.stream import waterfall
    from llmviz.course.lessons.transformer.stream import words
    from llmviz.course.lessons.transformer.stream.ledger import part_name
    from llmviz.interpretability.attribution import logit_ledger
    from llmviz.interpretability.heads_on_text import last_logits

    network, tokenizer, ids, _ = _read(model, text)
    best = int(last_logits(network, ids).argmax()) if token is None else _one(tokenizer, token)
    other = None if against is None else _one(tokenizer, against)
    entries = logit_ledger(network, ids, best, other).entries
    return waterfall(
        [part_name(entry) for entry in entries],
        [entry.value for entry in entries],
        [entry.kind for entry in entries],
        words.total if against is None else words.total_difference,
    )


def _one(tokenizer: Tokenizer, text: str) -> int:
    ids = tokenizer.encode(text)
    if len(ids) != 1:
        raise ValueError(f"{text!r} is {len(ids)} tokens; one is needed")
    return ids[0]


def sampler(model: Any, text: str, *, u: float = 0.5, **settings: Any) -> Any:
    """Show the steps from the logits after a text to one token, with a slider for each step.

    u: the random number from 0 to 1 that falls on a token. settings: of the steps, such as
      `temperature=0.8, top_k=40`.
    Raises ValueError for a setting that does not exist or leaves no token.
    """
    import numpy as np

    from llmviz.course.components.sampler.view import Column, Control, named_tokens
    from llmviz.course.components.sampler.view import sampler as drawn
    from llmviz.course.lessons.sampling.pipeline import words
    from llmviz.course.ui.model_on_text import names_of
    from llmviz.interpretability.heads_on_text import last_logits
    from llmviz.sampling import STEPS, kind_of, sampling_steps, usual_order
    from llmviz.sampling.sweeps import steps_with_column, stops, sweep_all

    network, tokenizer, ids, _ = _read(model, text)
    logits = last_logits(network, ids)
    known = {kind.name: kind.neutral for kind in STEPS}
    if unknown := settings.keys() - known.keys():
        raise ValueError(f"steps are {', '.join(known)}; got {', '.join(sorted(unknown))}")
    full = known | settings | {"order": usual_order()}
    sampling_steps(logits, previous=ids, **full)  # says what is wrong with a setting
    bars = np.sort(np.argsort(-logits, kind="stable")[: min(SHOWN, logits.size)])
    bars = bars[np.argsort(-logits[bars], kind="stable")].astype(np.int64)
    controls = []
    for name in SLIDERS:
        values = stops(name, full[name], logits.size)
        swept = sweep_all([full | {name: value} for value in values], logits, ids, bars, u)
        texts = [kind_of(name).text_of(value) for value in values]
        controls.append(Control(name, values, texts, values.index(full[name]), swept))
    columns = [Column("model", words.model_column, words.model_hint, movable=False)]
    for name in steps_with_column(full):
        columns.append(Column(name, kind_of(name).title, kind_of(name).hint, movable=False))
    listed = sorted(named_tokens(controls, bars))
    names = dict(zip(listed, names_of(listed, tokenizer), strict=True))
    vocab = logits.size
    return picture(drawn, columns, controls, bars, names, u=u, vocab_size=vocab, can_ban=False)


def curves(runs: Any) -> Any:
    """Show the curves of runs: losses, learning rate and gradient norm over steps, zoomed by hand.

    runs: a run's folder, the name of one (`run:NAME`) or of a bundled model, an object with a
      `folder`, or several of these; the first one has the scrubber.
    """
    from llmviz.course.components.curves.view import View
    from llmviz.course.components.curves.view import curves as drawn
    from llmviz.course.lessons.training import words
    from llmviz.course.lessons.training.loss_unit import counted, units
    from llmviz.course.lessons.training.run_chart import run_curve
    from llmviz.training.curves import CurveFile, points_each
    from llmviz.training.reading import read_description

    folders = [_folder(run) for run in (runs if isinstance(runs, (list, tuple)) else [runs])]
    if not folders:
        raise ValueError("there is no run to draw")
    view, limit = View(), points_each(len(folders))
    lines = [
        run_curve(folder.name, folder.name, at, CurveFile(folder).read(), 1.0, (view.mean,), limit)
        for at, folder in enumerate(folders)
    ]
    axes = {
        "x": words.run_chart_axes,
        "y": units(counted(read_description(folder)) for folder in folders),
        "lr": words.run_chart_lr,
        "grad": words.run_chart_gradient,
    }
    named = {"axes": axes, "words": words.run_chart_picture, "weights": (view.mean,)}
    return picture(drawn, lines, **named, view=view, height=760)


def _folder(run: Any) -> Path:
    """Return a run's folder. Raises ValueError where there is none."""
    from llmviz.files.paths import CHECKPOINTS
    from llmviz.runs.store import PREFIX, find_run

    run = getattr(run, "folder", run)
    if isinstance(run, str) and run.startswith(PREFIX):
        return find_run(run)
    for folder in (Path(run), CHECKPOINTS / str(run)):
        if (folder / "config.json").is_file():
            return folder
    raise ValueError(f"{str(run)[:80]!r} is neither a run's folder nor the name of a model here")
