"""Every kind of published model that can be read, by the model_type of its config.json.

And how it is told a conversation: the chat template in its folder, as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from llmviz.files.text import read_text_file
from llmviz.models.gpt import GPT
from llmviz.models.gpt2_format import describe_gpt2
from llmviz.models.llama_format import KINDS, describe_llama, load_llama
from llmviz.models.published_files import CONFIG, find_folder, read_json
from llmviz.models.settings import GPTConfig
from llmviz.tokenizers.published import OPTIONS

TEMPLATE = "chat_template.jinja"
LARGEST = 2**20  # bytes
SAYS_SIZES = ("model_type", "n_embd", "hidden_size")  # one of them is in every such config.json
USUAL = "default"  # the one of several that is taken


def read_chat(folder: Path) -> dict[str, Any] | None:
    """Return the template of a folder and the tokens that it may name; None where it has none.

    `{"template": text, "tokens": {"bos_token": text, …}}`; it is not run here.
    Raises: ValueError for a file that cannot be read.
    """
    options = read_json(folder / OPTIONS) if (folder / OPTIONS).is_file() else {}
    template = options.get("chat_template")
    if isinstance(template, list):  # several, each with a name
        forms = [form for form in template if isinstance(form, dict)]
        named = {form.get("name"): form.get("template") for form in forms}
        template = named.get(USUAL)
    if (folder / TEMPLATE).is_file():  # where newer folders have it
        template = read_text_file(folder / TEMPLATE, LARGEST)
    if not isinstance(template, str):
        return None
    tokens = {}
    for name, value in options.items():
        content = value.get("content") if isinstance(value, dict) else value
        if name.endswith("_token") and isinstance(content, str):
            tokens[name] = content
    return {"template": template, "tokens": tokens}


# model_type -> what reads such a folder
READERS: dict[str, Callable[[Path], GPT]] = {
    "gpt2": GPT.from_gpt2,
    **dict.fromkeys(KINDS, partial(load_llama, build=GPT)),
}
# model_type -> what reads the settings of such a folder and the shapes of its tensors, no more
DESCRIBERS: dict[str, Callable[[Path], GPTConfig]] = {
    "gpt2": describe_gpt2,
    **dict.fromkeys(KINDS, describe_llama),
}


def load_published(folder_or_repo_id: str | Path) -> GPT:
    """Return the model of a folder in a published format, or of a repository on the hub.

    Weights of any floating type become float32. The model is in eval mode.

    Raises: ValueError in one line when it is not there, cannot be reached, or is damaged or of a
    kind that cannot be read.
    """
    folder = find_folder(folder_or_repo_id)
    return READERS[kind_of(folder)](folder)


def describe_published(folder: Path) -> GPTConfig:
    """Return the settings of a folder in a published format, which holds the tensors of such a GPT.

    No tensor is read. Raises: ValueError as `load_published`.
    """
    return DESCRIBERS[kind_of(folder)](folder)


def kind_of(folder: Path) -> str:
    """Return the model_type of a folder. Raises: ValueError for one that cannot be read here."""
    kind = read_json(folder / CONFIG).get("model_type", "gpt2")
    if not isinstance(kind, str) or kind not in READERS:
        raise ValueError(f"model_type must be one of {', '.join(READERS)}; got {kind!r}")
    return kind


def is_published(folder: Path) -> bool:
    """Whether a folder's config.json says that it holds a model in a published format.

    Some do not say of which type; what we write names its own format.
    """
    try:
        about = read_json(folder / CONFIG)
    except ValueError:
        return False
    return "format" not in about and any(name in about for name in SAYS_SIZES)
