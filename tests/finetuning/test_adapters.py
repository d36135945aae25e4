"""Adapters whose numbers are of no type for weights."""

import shutil

import pytest
import torch

from llmviz.finetuning.adapters import WEIGHTS, load_adapter
from llmviz.paths import TUNED
from llmviz.pretrained import load_bundled
from llmviz.training.files import MANIFEST
from llmviz.training.tensors import load_tensors, save_tensors

FEW_SHOT = TUNED / "few-shot"


@pytest.mark.parametrize("kind", [torch.float8_e4m3fn, torch.int32, torch.bool, torch.complex64])
def test_an_adapter_of_no_type_for_weights_is_refused_by_name(tmp_path, kind):
    folder = tmp_path / "adapter"
    shutil.copytree(FEW_SHOT, folder)
    (folder / MANIFEST).unlink(missing_ok=True)
    tensors = load_tensors(folder / WEIGHTS)
    name = min(tensors)
    save_tensors(folder / WEIGHTS, tensors | {name: tensors[name].to(kind)})
    model = load_bundled("tiny-world-gpt")[0]
    with pytest.raises(ValueError, match=f"{name} holds numbers of type {str(kind)[6:]}"):
        load_adapter(model, folder, "tiny-world-gpt")
