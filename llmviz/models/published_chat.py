"""How a published model is told a conversation: the chat template in its folder, as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llmviz.models.published_files import read_json
from llmviz.textfile import read_text_file
from llmviz.tokenizers.published import OPTIONS

TEMPLATE = "chat_template.jinja"
LARGEST = 2**20  # bytes
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
