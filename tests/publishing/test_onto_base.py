"""An adapter of peft's own, read onto its base: the logits are those that peft computes."""

import json

import pytest
import torch

import llmviz
from llmviz.cli import main
from tests.finetuning.conftest import small_base
from tests.published_models import make_gpt2, make_llama
from tests.test_cli import refused

__all__ = ["small_base"]  # a fixture

transformers = pytest.importorskip("transformers")
IDS = torch.randint(0, 270, (2, 16), generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def peft():
    """Imported where it is used: every process of the tests collects this file."""
    return pytest.importorskip("peft")


def make_adapter(peft, base, folder, **options):
    """Write an adapter with random matrices, and return its logits by peft."""
    torch.manual_seed(1)
    plain = transformers.AutoModelForCausalLM.from_pretrained(base)
    both = peft.get_peft_model(plain, peft.LoraConfig(r=4, lora_alpha=6, **options)).eval()
    with torch.no_grad():
        for name, parameter in both.named_parameters():
            if "lora_" in name:
                parameter.normal_(std=0.3)
        logits = both(IDS).logits
    both.save_pretrained(folder)
    return logits


CASES = {
    "gpt2": (make_gpt2, dict(target_modules=["c_attn", "c_proj"], fan_in_fan_out=True)),
    "llama": (make_llama, dict(target_modules=["q_proj", "v_proj", "down_proj", "gate_proj"])),
    "rank-stabilised": (make_llama, dict(target_modules="all-linear", use_rslora=True)),
}


@pytest.mark.parametrize("case", CASES)
def test_an_adapter_of_pefts_is_read_onto_its_base(case, tmp_path, peft, capsys):
    make, options = CASES[case]
    base, folder, run = make(tmp_path / "base"), tmp_path / "adapter", tmp_path / "run"
    expected = make_adapter(peft, str(base), folder, **options)
    model = llmviz.load(folder)
    with torch.no_grad():
        assert torch.allclose(model.module(IDS)[0], expected, atol=2e-4, rtol=1e-3)
        assert (llmviz.load(base).module(IDS)[0] - expected).abs().max() > 0.05
    assert model.encode("The cat") == llmviz.load(base).encode("The cat")
    assert main(["import", str(folder), "--out", str(run)]) == 0
    assert torch.equal(llmviz.load(run).module(IDS)[0], model.module(IDS)[0])


def test_the_adapter_that_a_finetuning_leaves_is_its_model(tmp_path, small_base, monkeypatch):
    monkeypatch.setattr("llmviz.pretrained.CHECKPOINTS", small_base)
    run = tmp_path / "run"
    few = ["--examples", "20", "--test-examples", "4", "--steps", "2", "--eval-every", "0"]
    given = ["finetune", "--task", "instructions", *few, "--mix", "0", "--out", str(run)]
    assert main(given) == 0
    idx = torch.arange(40)[None]
    ours, beside = (llmviz.load(path).module(idx)[0] for path in (run, run / "adapter"))
    assert torch.allclose(ours, beside, atol=1e-5)


def test_what_does_not_fit_is_refused_by_its_name(tmp_path, peft, capsys):
    base, folder = make_llama(tmp_path / "base"), tmp_path / "adapter"
    make_adapter(peft, str(base), folder, target_modules=["q_proj"])
    capsys.readouterr()
    path = folder / "adapter_config.json"
    about = json.loads(path.read_text("utf-8"))
    generate = ["generate", "--checkpoint", str(folder)]
    for change, said in (
        ({"base_model_name_or_path": "someone/nothing"}, "someone/nothing"),
        ({"base_model_name_or_path": str(folder)}, "from itself"),
        ({"base_model_name_or_path": None}, "base_model_name_or_path"),
        ({"use_dora": True}, "use_dora"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"peft_type": "IA3"}, "IA3"),
        ({"base_model_name_or_path": str(make_gpt2(tmp_path / "gpt2"))}, "q_proj"),
        (
            {"base_model_name_or_path": str(make_llama(tmp_path / "wide", hidden_size=64))},
            "another base",
        ),
    ):
        path.write_text(json.dumps(about | change), "utf-8")
        assert said in refused(capsys, *generate)
