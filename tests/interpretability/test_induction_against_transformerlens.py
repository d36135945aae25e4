"""Scores of heads against TransformerLens', by a model that both load; skipped where it is absent.

`pip install --no-deps transformer-lens beartype einops fancy-einsum jaxtyping typeguard
wadler_lindig transformers-stream-generator` beside the project's own packages is enough for it.
"""

import numpy as np
import pytest
import torch

from llmviz.interpretability.induction import scores
from llmviz.models.gpt2_format import save_gpt2
from tests.interpretability.models import gpt

lens = pytest.importorskip("transformer_lens", reason="TransformerLens is not installed")
P, T = 6, 12  # letters of a block that is read twice


def test_previous_and_induction_scores_are_theirs(tmp_path):
    from transformer_lens import head_detector as theirs
    from transformer_lens.model_bridge import TransformerBridge
    from transformers import GPT2LMHeadModel

    ours = gpt(activation="gelu_tanh", context_length=T)
    save_gpt2(ours, tmp_path)
    loaded = GPT2LMHeadModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    bridge = TransformerBridge.boot_transformers(str(tmp_path), hf_model=loaded)
    block = np.random.default_rng(0).permutation(19)[:P]
    text = np.concatenate([block, block])[None]
    tokens = torch.from_numpy(text)
    with torch.inference_mode():
        logits, cache = bridge.run_with_cache(tokens)
        torch.testing.assert_close(logits, ours(tokens)[0], atol=1e-4, rtol=1e-4)
    previous, induction = scores(ours, text)
    before = theirs.get_previous_token_head_detection_pattern(tokens)
    before[1] = 0  # the second token's only other is the first: ours leaves this row out
    followed = theirs.get_induction_head_detection_pattern(tokens)
    for pattern, places, found in ((before, T - 2, previous), (followed, P, induction)):
        for layer, head in np.ndindex(found.shape):
            weights = cache[f"blocks.{layer}.attn.hook_pattern"][0, head]
            score = theirs.compute_head_attention_similarity_score(
                weights,
                pattern,
                exclude_bos=False,
                exclude_current_token=False,
                error_measure="mul",
            )
            # Theirs is a share of the weight of all T rows, ours of the rows that it is about.
            assert found[layer, head] == pytest.approx(score * T / places, abs=1e-5)
