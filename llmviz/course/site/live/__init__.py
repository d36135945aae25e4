"""The page that has whole models in it: they run in the browser, on the visitor's own text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from llmviz.course.components._shared.bundle import joined
from llmviz.course.components._shared.transport import pack
from llmviz.course.document import texts_of
from llmviz.course.lessons.home import TEXT
from llmviz.course.lessons.home import words as home
from llmviz.course.lessons.home.machine import read
from llmviz.course.lessons.home.picture import decided_heads, picture_words
from llmviz.course.lessons.home.sentence import sentence, token_text
from llmviz.course.site.elements import code_html
from llmviz.course.site.live.words import words as live_words
from llmviz.course.site.words import words as site_words
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.model_on_text import names_of
from llmviz.models.fast_paths import FastPath
from llmviz.pretrained import load_bundled
from llmviz.quantization.grids import quantize
from llmviz.quantization.scheme import CHANNEL, Scheme
from llmviz.tokenizers import BPETokenizer
from llmviz.tokenizers.vocabulary import UNKNOWN, CharTokenizer

HERE = Path(__file__).parent


class Live(NamedTuple):
    """A model of the page: its name, what it is, and a text for a visitor who has none yet.

    what: the name of the words for it. int8: whether its matrices come as whole numbers from −127
    to 127 and a step for each row.
    """

    name: str
    what: str
    text: str
    int8: bool = False


MODELS = (
    Live("names-gpt", "names_gpt", "ann"),
    Live("tiny-world-char", "tiny_char", "Once Anna and Sam"),
    Live(
        "tiny-world-gpt",
        "tiny_gpt",
        "Once Anna and Samir met at the market. Then",
        int8=True,
    ),
)
# What the script of the page computes as it is written there.
COMPUTES = FastPath({"tied_head": (True,), "qkv_bias": (True,), "bias": (True,)})
_EXPORTED = re.compile(r"^export (?:(?:function|class) (\w+)|\{([^}]*?),?\s*\};)", re.MULTILINE)
INT8 = Scheme(8, per=CHANNEL)
SIZES = ("n_layer", "n_head", "n_embd", "vocab_size", "context_length", "norm_epsilon")


@cache
def packed_model(name: str, *, int8: bool = False) -> bytes:
    """Return a bundled model as the page loads it: settings, tokenizer, weights.

    The weights are in float16. int8: the matrices are on a grid of 8 bits instead.
    Raises ValueError: the script does not compute this kind of model, or float16 has not all of a
    weight.
    """
    model, tokenizer, _ = load_bundled(name)
    if (setting := COMPUTES.refused(model.config)) is not None:
        value = getattr(model.config, setting)
        raise ValueError(f"{name}: the page does not compute models with {setting}={value!r}")
    tensors, blobs = [], []
    for key, tensor in model.state_dict().items():
        if key == "head.weight":  # it is the matrix of the tokens
            continue
        rows = tensor.shape[0] if int8 and tensor.ndim == 2 else 0
        tensors.append([key, tensor.numel(), rows])
        if rows:
            codes, tensor, _ = quantize(tensor, INT8)  # the steps come after the codes
            blobs.append(codes.numpy().astype(np.int8).tobytes())
        values = tensor.detach().numpy()
        half = values.astype("<f2")
        if not np.array_equal(half.astype(np.float32), values):
            raise ValueError(f"{name}: {key} is not stored in float16")
        blobs.append(half.tobytes())
    return pack(
        {
            "config": {size: getattr(model.config, size) for size in SIZES},
            **_tokens(tokenizer),
            "machine": machine_said(model, tokenizer),
            "tensors": tensors,
            "weights": np.frombuffer(b"".join(blobs), dtype=np.uint8),
        }
    )


def packed_tokenizer(tokenizer: Any) -> bytes:
    """Return a tokenizer as the page loads it, without a model."""
    return pack(_tokens(tokenizer))


def _tokens(tokenizer: Any) -> dict[str, Any]:
    """A tokenizer as a page builds it again, and what its tokens are called."""
    if isinstance(tokenizer, CharTokenizer):
        unknown = tokenizer.special_tokens[UNKNOWN]
        known: dict[str, Any] = {"vocabulary": tokenizer.vocabulary, "unknown": unknown}
    else:
        known = {"merges": [list(pair) for pair in cast(BPETokenizer, tokenizer).merges]}
    names = names_of(range(tokenizer.vocab_size), tokenizer)
    names[tokenizer.end] = live_words.end  # in front of a text it is called the start
    return {"tokenizer": known | {"end": tokenizer.end}, "names": names}


def machine_said(model: Any, tokenizer: Any, text: str = TEXT) -> dict[str, Any]:
    """What the picture of the whole machine says of a model, and the view that it begins with.

    text: on which its most decided heads are found.
    """
    window = sentence(text, tokenizer, model.context_length)
    layer, heads = decided_heads(read(model, window.ids).weights)
    config = model.config
    say = {
        kind: picture_words(config.positions, config.norm, kind, starts=window.starts)
        for kind in home.following
    }
    links = dict(home.stage_chapters)
    of_layer = links.pop("layer")
    return {
        "words": say,
        "links": links | {f"layer {layer}": of_layer for layer in range(config.n_layer)},
        "view": {"layer": layer, "heads": heads},
        "end": token_text(tokenizer.end, tokenizer)[0],
    }


def live_script(entry: str, name: str) -> str:
    """Return a page's script, which leaves what it exports in a global object.

    Its `source` is the script as text: a worker is made of it, where no file can be asked for.
    """
    listed = _EXPORTED.findall((HERE / entry).read_text("utf-8"))
    exported = ", ".join(single or many.strip() for single, many in listed)
    code = joined(HERE / entry).replace("import.meta.url", '""')
    return (
        f"globalThis.{name} = ((make) => Object.assign(make(), {{ source: String(make) }}))"
        f'(() => {{\n"use strict";\n{code}\nreturn {{ {exported} }};\n}});\n'
    )


def live_html(page: str, scripts: Mapping[str, str] = MappingProxyType({}), **texts: str) -> str:
    """Return what stands on a page; scripts: files that it shows, by the names of slots.

    texts: by the names of their slots, too.
    """
    files = FileSystemLoader(HERE, encoding="utf-8")
    room = Environment(loader=files, autoescape=True, undefined=StrictUndefined)
    code = {
        name: Markup(code_html((HERE / file).read_text("utf-8"), "javascript"))
        for name, file in scripts.items()
    }
    said = {"said": site_words, "furniture": furniture, "live": live_words}
    words = {name: texts_of(document) for name, document in said.items()}
    return room.get_template(page).render(models=MODELS, **words, **code, **texts)
