"""`export --to hf`: a folder that transformers loads, model and tokenizer.

FOLDER/config.json, generation_config.json    its settings, and which tokens begin and end a text
      /model.safetensors                      its weights; packed codes are unpacked
      /tokenizer.json, tokenizer_config.json  its tokenizer, and its chat template if it has one
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from llmviz.files.weights import write_weights
from llmviz.files.whole import write_whole, writing
from llmviz.models.gpt import GPT
from llmviz.models.published_files import CONFIG, WEIGHTS
from llmviz.pretrained import GENERATION
from llmviz.publishing.form import gpt_of, published_config, published_tensors
from llmviz.tokenizers.published import OPTIONS, WHOLE
from llmviz.tokenizers.published_form import published_form
from llmviz.training.files import removed_if_empty, whole_folder
from llmviz.training.reading import CHAT
from llmviz.training.run_folder import Trained, prepare_folder

NAMES = {torch.float32: "float32", torch.float16: "float16"}


def export_folder(
    trained: Trained, folder: Path, dtype: torch.dtype = torch.float32
) -> dict[str, Any]:
    """Write a model to a new folder in its published form; return its config.json.

    Raises ValueError for a model or a tokenizer that has none, where the folder holds files
    already, and where it cannot be written.
    """
    model = gpt_of(trained)
    published_config(model.config)  # it must have a form
    model = in_blocks(model, dtype)
    config = {**published_config(model.config), "dtype": NAMES[dtype], "use_cache": True}
    form = published_form(trained.tokenizer)
    options = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": model.context_length,
        "clean_up_tokenization_spaces": False,
        **form.tokens,
    }
    if CHAT in trained.description:
        options["chat_template"] = trained.description[CHAT]["template"]
    marks = {"bos_token_id": form.begins, "eos_token_id": form.ends}
    files: dict[str, dict[str, Any]] = {
        WHOLE: form.content,
        OPTIONS: options,
        GENERATION: {"_from_model_config": True, **marks},
        CONFIG: {**config, **marks},  # what makes it a model comes last
    }
    tensors = {
        place.name: (tensor.t() if place.transposed else tensor)
        .to(dtype)
        .clone(memory_format=torch.contiguous_format)
        for place, tensor in published_tensors(model)
    }
    with removed_if_empty(folder):
        prepare_folder(folder, resume=False)
        with writing(str(folder)), whole_folder(folder) as new:
            write_whole(new / WEIGHTS, lambda path: write_weights(path, tensors))
            for name, content in files.items():
                text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
                write_whole(new / name, lambda path, text=text: path.write_text(text, "utf-8"))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    return files[CONFIG]


def in_blocks(model: GPT, dtype: torch.dtype) -> GPT:
    """A model with experts whose matrices transformers can multiply: in blocks of 16 bytes.

    It has a few hidden units more where their number fills no whole block. All weights of those are
    zero, so they change no number. Raises ValueError where the width of the residual stream fills
    none.
    """
    config, block = model.config, 16 // dtype.itemsize
    if config.n_expert == 1:
        return model
    if config.n_embd % block:
        raise ValueError(
            f"transformers multiplies the experts of a Mixtral in blocks of {block} numbers in "
            f"{NAMES[dtype]}, so n_embd must be a multiple of {block}; got {config.n_embd}"
        )
    wide = -(-config.feed_forward_size // block) * block
    wider = GPT(replace(config, hidden_size=wide))
    with torch.no_grad():
        for name, target in wider.named_parameters():
            own = model.get_parameter(name)
            target.zero_()[tuple(map(slice, own.shape))] = own
    return wider.eval()
