"""What `export --to peft` writes, put by peft onto the model of transformers: equal logits."""

import pytest
import torch

from llmviz.cli import main
from llmviz.pretrained import find_model
from tests.finetuning.conftest import small_base
from tests.published_models import make_gpt2, make_llama
from tests.test_cli import FAST

__all__ = ["small_base"]  # a fixture

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def peft():
    """Imported where it is used: every process of the tests collects this file."""
    return pytest.importorskip("peft")


@pytest.mark.parametrize("make", [make_gpt2, make_llama])
def test_an_adapter_of_a_published_model_fits_that_model(make, tmp_path, peft):
    base, run, out = (tmp_path / name for name in ("base", "run", "out"))
    text = tmp_path / "text.txt"
    text.write_text("The dog sat on the cat. " * 200, encoding="utf-8")
    make(base)
    given = ["--corpus", str(text), "--steps", "3", "--lr", "0.05", "--context-length", "16", *FAST]
    assert main(["train", "--from", str(base), "--lora", "4", "--out", str(run), *given]) == 0
    assert main(["export", str(run), "--to", "peft", "--out", str(out)]) == 0
    plain = transformers.AutoModelForCausalLM.from_pretrained(base).eval()
    ids = torch.randint(0, 270, (2, 16), generator=torch.Generator().manual_seed(0))
    before = plain(ids).logits.detach()
    both = peft.PeftModel.from_pretrained(plain, out).eval()
    with torch.no_grad():
        ours = find_model(run).model(ids)[0]
        assert torch.allclose(both(ids).logits, ours, atol=2e-4, rtol=1e-3)
    assert (ours - before).abs().max() > 0.05  # it changes something
    assert both.peft_config["default"].base_model_name_or_path == str(base)


def test_an_adapter_of_a_finetuning_fits_its_exported_base(tmp_path, small_base, monkeypatch, peft):
    monkeypatch.setattr("llmviz.pretrained.CHECKPOINTS", small_base)
    run, out, base = (str(tmp_path / name) for name in ("run", "out", "base"))
    few = ["--examples", "20", "--test-examples", "4", "--steps", "2", "--eval-every", "0"]
    assert main(["finetune", "--task", "instructions", *few, "--mix", "0", "--out", run]) == 0
    assert main(["export", run, "--to", "peft", "--out", out]) == 0
    assert main(["export", str(small_base / "tiny-world-gpt"), "--out", base]) == 0
    both = peft.PeftModel.from_pretrained(
        transformers.AutoModelForCausalLM.from_pretrained(base), out
    )
    ids = torch.arange(40)[None]
    with torch.no_grad():
        ours = find_model(run).model(ids)[0]
        assert torch.allclose(both.eval()(ids).logits, ours, atol=2e-4, rtol=1e-3)


def test_what_has_no_adapter_says_so(tmp_path, capsys):
    assert main(["export", "names-gpt", "--to", "peft", "--out", str(tmp_path / "out")]) == 2
    assert "was not trained with --lora" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
