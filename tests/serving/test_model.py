"""The real engine: a batch of many requests gives each the tokens of `generate` alone."""

import pytest
import torch
from hypothesis import given, settings

from llmviz.models import GPT, GPTConfig
from llmviz.sampling import SamplingSettings, generate
from llmviz.serving import (
    POLICIES,
    PagedModel,
    Request,
    Sequence,
    ServingConfig,
)
from llmviz.serving.paged_memory import PagedMemory, Reading, attend_blocks
from llmviz.serving.plan import Plan
from tests.serving.schedules import CONTEXT, SETTINGS, VOCAB, Script, check_against, play, scripts

SAMPLINGS = (
    SamplingSettings(temperature=0.0),
    SamplingSettings(),
    SamplingSettings(temperature=0.7),
    SamplingSettings(top_k=4, temperature=1.3),
    SamplingSettings(top_p=0.8, repetition_penalty=1.5, banned=(3,)),
)
SHAPES = {
    "learned": {},
    "rotary, grouped, rms, swiglu": {
        "positions": "rotary",
        "n_kv_head": 2,
        "norm_kind": "rms",
        "activation": "swiglu",
        "bias": False,
    },
    "sinusoidal, multi-query": {"positions": "sinusoidal", "n_kv_head": 1},
    "post-norm, no positions": {"norm": "post", "positions": "none", "attention_scale": "model"},
    "no norm": {"norm": "none", "qkv_bias": False, "tied_head": False},
}


def tiny(**options) -> GPT:
    """In float64, in which no rounding of a batch changes a token."""
    torch.manual_seed(0)
    shape = {"vocab_size": VOCAB, "context_length": CONTEXT, "n_layer": 2, "n_head": 4}
    model = GPT(GPTConfig(**{**shape, "n_embd": 16, **options})).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():  # far from an even distribution
            parameter.mul_(6 if parameter.dim() == 2 else 1)
    return model


@pytest.fixture(scope="module", params=SHAPES)
def model(request) -> GPT:
    return tiny(**SHAPES[request.param])


def alone_by(model: GPT):
    def alone(request: Request, sample: int) -> list[int]:
        settings = request.sampling
        stop = request.stop_ids[0] if request.stop_ids else None
        tokens = generate(
            model,
            request.prompt,
            request.max_new_tokens,
            temperature=settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            repetition_penalty=settings.repetition_penalty,
            banned=settings.banned,
            generator=torch.Generator().manual_seed(request.seed + sample),
            stop_id=stop,
        )
        return [token.id for token in tokens]

    return alone


@settings(SETTINGS, max_examples=12)
@given(script=scripts(tuple(POLICIES), most=6, samplings=SAMPLINGS))
def test_tokens_are_those_of_generate(model, script):
    check_against(play(script, model), script, alone_by(model))


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
def test_tokens_stay_the_same_when_memory_runs_out(preemption):
    model = tiny()
    config = ServingConfig(
        max_batch=6, block_size=2, n_blocks=24, preemption=preemption, host_blocks=40
    )
    requests = [
        Request(f"r{i}", (i, 1, 2), 20, SAMPLINGS[i % 5], seed=i, n=1 + i % 2) for i in range(8)
    ]
    script = Script(config, {0: requests[:5], 2: requests[5:]})
    played = play(script, model)
    check_against(played, script, alone_by(model))
    assert any(step.preempted or step.swapped_out for step in played.steps)
    assert any(step.copies for step in played.steps)


SPOILED = VOCAB - 1  # a token of which the model below computes nothing but nan


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
@pytest.mark.parametrize("policy", POLICIES)
def test_one_whose_logits_are_no_numbers_fails_alone(policy, preemption):
    model = tiny(tied_head=False)
    with torch.no_grad():
        model.token.weight[SPOILED] = float("nan")
    config = ServingConfig(
        policy, max_batch=5, block_size=2, n_blocks=20, token_budget=6, preemption=preemption
    )
    ways = [SamplingSettings(banned=(SPOILED,), **way) for way in ({"temperature": 0.0}, {})]
    spoiled = {"r1": (1, 2, 3, SPOILED), "r4": (SPOILED,), "r6": (1, 2, 3, SPOILED, 4, 5)}
    requests = [
        Request(f"r{i}", spoiled.get(f"r{i}", (1, 2, 3, i)), 12, ways[i % 2], seed=i, n=1 + i % 2)
        for i in range(9)
    ]
    for one in spoiled:  # one that draws the most probable token, ban or no ban
        requests.append(Request(f"{one}-plain", spoiled[one], 3))
    played = play(Script(config, {0: requests[:5], 3: requests[5:]}), model)
    for request in requests:
        for sample in range(request.n):
            outcome = played.outcomes[request.name(sample)]
            if SPOILED in request.prompt:
                assert (outcome.reason, outcome.tokens) == ("failed", ())
                assert "finite" in outcome.problem
            else:
                alone = alone_by(model)(request, sample)
                assert (outcome.reason, list(outcome.tokens)) == ("length", alone)


def sequence(tokens: list[int], computed: int, table: list[int]) -> Sequence:
    made = Sequence(Request(f"s{table[0]}", tuple(tokens)), 0, 0)
    made.computed, made.table = computed, table
    return made


def test_a_tick_of_parts_gives_the_logits_of_the_whole(model):
    """Whole prompts, parts of prompts and single tokens side by side, in blocks far apart."""
    paged = PagedModel(model, n_blocks=30, block_size=4)
    texts = [[(7 * i + j) % VOCAB for j in range(length)] for i, length in enumerate((9, 13, 5, 1))]
    tables = [[29, 3, 8], [1, 20, 14, 2], [5, 0], [11]]
    rows = [sequence(text, 0, table) for text, table in zip(texts, tables, strict=True)]

    def logits(plan: Plan) -> torch.Tensor:
        count = len(plan.decode) + len(plan.prefill)
        ends = [*plan.decode, *(one for one, _, _ in plan.prefill)]
        plan.draws = [(row, ends[row]) for row in range(count)]
        return paged.compute(plan)

    with torch.no_grad():
        expected = [model(torch.tensor([text]))[0][0] for text in texts]
    first = logits(Plan(prefill=[(rows[0], 0, 8), (rows[1], 0, 5), (rows[2], 0, 5)]))
    torch.testing.assert_close(first[0], expected[0][7])
    torch.testing.assert_close(first[1], expected[1][4])
    torch.testing.assert_close(first[2], expected[2][4])
    rows[0].computed = 8
    second = logits(
        Plan(decode=[rows[0]], prefill=[(rows[1], 5, 8), (rows[3], 0, 1)], padding_tokens=3)
    )
    torch.testing.assert_close(second[0], expected[0][8])
    torch.testing.assert_close(second[1], expected[1][12])
    torch.testing.assert_close(second[2], expected[3][0])


def test_float32_batches_are_near_the_model():
    model = GPT(GPTConfig(vocab_size=300, context_length=64, n_layer=2, n_embd=128)).eval()
    paged = PagedModel(model, n_blocks=16, block_size=16, rows=16)
    text = torch.randint(0, 300, (1, 40)).tolist()[0]
    row = sequence(text, 0, [3, 1, 2])
    plan = Plan(prefill=[(row, 0, 40)], draws=[(0, row)])
    with torch.no_grad():
        expected = model(torch.tensor([text]), last_only=True)[0][0]
    torch.testing.assert_close(paged.compute(plan), expected, atol=1e-4, rtol=1e-4)


def test_bytes_are_those_of_the_memory():
    paged = PagedModel(tiny(n_kv_head=2), n_blocks=7, block_size=3)
    memory = [*paged.memory.keys, *paged.memory.values]
    assert sum(tensor.nbytes for tensor in memory) == 7 * 3 * paged.bytes_per_token


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"mask": "none"}, "mask"),
        ({"window": 4}, "window"),
        ({"n_expert": 2}, "n_expert"),
        ({"residual": False}, "residual"),
        ({"softmax_before_mask": "leave"}, "softmax_before_mask"),
    ],
)
def test_an_option_that_is_not_read_is_named(options, named):
    with pytest.raises(ValueError, match=f"got {named}="):
        PagedModel(tiny(**options), 4, 4)


def test_other_models_and_layers_are_refused():
    with pytest.raises(ValueError, match="served by a GPT; got Linear"):
        PagedModel(torch.nn.Linear(2, 2), 4, 4)
    model = tiny()
    model.blocks[0].attn.qkv = torch.nn.Sequential(model.blocks[0].attn.qkv)
    with pytest.raises(ValueError, match="plain linear layers; got Sequential"):
        PagedModel(model, 4, 4)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_rows_of_any_scores_are_read_from_their_blocks(scale):
    """All scores of a row may be far below 0, and rows may have other numbers of blocks."""
    memory = PagedMemory(1, 6, 1, 2, 4)
    draw = torch.Generator().manual_seed(0)
    for tensor in (memory.keys[0], memory.values[0]):
        tensor.copy_(torch.rand(tensor.shape, generator=draw) + 0.5)
    q = -torch.rand(2, 1, 4, generator=draw) - 0.5  # against keys above 0: scores below 0
    tables, lengths = [[5], [0, 3, 1]], [1, 5]
    reading = Reading.of(tables, lengths, 2, memory.keys[0])
    found = attend_blocks(q, memory.keys[0], memory.values[0], reading, scale)
    for row, (table, length) in enumerate(zip(tables, lengths, strict=True)):
        keys, values = (
            part[0][table, 0].reshape(-1, 4)[:length] for part in (memory.keys, memory.values)
        )
        expected = (scale * keys @ q[row, 0]).softmax(0) @ values
        torch.testing.assert_close(found[row], expected)
