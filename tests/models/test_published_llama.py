"""Folders of the Llama type against transformers; what is not computed is refused by name."""

import json
from importlib.util import find_spec

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from llmviz.models.costs import count
from llmviz.models.llama_format import FIRST_LENGTH, ONLY, WITHOUT_EFFECT, config_from_llama
from llmviz.models.published import is_published, load_published
from llmviz.pretrained import import_gpt2
from llmviz.sampling import generate
from llmviz.training.run_folder import load_trained

pytestmark = pytest.mark.skipif(find_spec("transformers") is None, reason="not installed")

SMALL = dict(
    vocab_size=37,
    hidden_size=32,
    intermediate_size=44,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=48,
)
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 5e5,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
ALIKE = ["full_attention"] * 2
CONFIGS = {
    "llama": ("Llama", {}),
    "all heads": ("Llama", dict(num_key_value_heads=4)),
    "one head of keys": ("Llama", dict(num_key_value_heads=1)),
    "tied, as SmolLM2": (
        "Llama",
        dict(tie_word_embeddings=True, rope_theta=1e5, rms_norm_eps=1e-5),
    ),
    "biases": ("Llama", dict(attention_bias=True, mlp_bias=True)),
    "biases of attention": ("Llama", dict(attention_bias=True)),
    "biases of the MLP": ("Llama", dict(mlp_bias=True)),
    "another base": ("Llama", dict(rope_parameters={"rope_type": "default", "rope_theta": 321.0})),
    "closer positions": (
        "Llama",
        dict(rope_parameters={"rope_type": "linear", "factor": 4.0, "rope_theta": 1e4}),
    ),
    "as Llama 3.1": ("Llama", dict(rope_parameters=LLAMA3)),
    "large epsilon": ("Llama", dict(rms_norm_eps=0.3)),
    "mistral": ("Mistral", dict(sliding_window=5)),
    "mistral without a window": ("Mistral", dict(sliding_window=None)),
    "mixtral": ("Mixtral", dict(num_local_experts=3)),
    "mixtral of one expert a token": (
        "Mixtral",
        dict(num_experts_per_tok=1, sliding_window=7, tie_word_embeddings=True),
    ),
    "phi3": ("Phi3", dict(pad_token_id=0)),
    "phi3 with a window": ("Phi3", dict(pad_token_id=0, sliding_window=6, rope_theta=321.0)),
    "qwen2": ("Qwen2", {}),
    "tied, as Qwen2.5": ("Qwen2", dict(tie_word_embeddings=True, rope_theta=1e6)),
    "qwen2 with a window": (
        "Qwen2",
        dict(use_sliding_window=True, sliding_window=5, max_window_layers=0),
    ),
    "qwen2 with a window nowhere": (
        "Qwen2",
        dict(use_sliding_window=True, sliding_window=5, max_window_layers=2),
    ),
}


def theirs(kind="Llama", **options):
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SMALL | options)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    with torch.no_grad():  # norms and biases away from 1 and 0, so that mixing them up would show
        for parameter in model.parameters():
            scale = 0.2 if parameter.dim() == 1 else 0.15
            parameter.add_(scale * torch.randn_like(parameter))
    return model


def ids(t=40):
    return torch.randint(0, 37, (2, t), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(("kind", "options"), CONFIGS.values(), ids=CONFIGS.keys())
def test_logits_are_those_of_transformers(tmp_path, kind, options):
    model = theirs(kind, **options)
    model.save_pretrained(tmp_path)
    ours = load_published(tmp_path)
    with torch.no_grad():
        expected = model(ids()).logits
        torch.testing.assert_close(ours(ids())[0], expected, atol=2e-4, rtol=1e-4)
        cache = ours.new_cache(2)
        parts = [ours(ids()[:, a:b], cache=cache)[0] for a, b in ((0, 30), (30, 31), (31, 40))]
        torch.testing.assert_close(torch.cat(parts, 1), expected, atol=2e-4, rtol=1e-4)
    assert is_published(tmp_path)
    if not (options.get("attention_bias") or options.get("mlp_bias")):  # others are zeros here
        assert count(ours.config) == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("name", ["biases of attention", "as Llama 3.1", "tied, as Qwen2.5"])
def test_older_files_say_the_same(tmp_path, name):
    """rope_theta and rope_scaling, names without a prefix, frequencies among the weights."""
    kind, options = CONFIGS[name]
    model = theirs(kind, **options)
    model.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    values = json.loads(path.read_text())
    rotary = values.pop("rope_parameters")
    values["rope_theta"] = rotary.pop("rope_theta")
    if rotary["rope_type"] != "default":
        values["rope_scaling"] = {"type": rotary.pop("rope_type"), **rotary}
    path.write_text(json.dumps(values))
    weights = tmp_path / "model.safetensors"
    tensors = {k.removeprefix("model."): v for k, v in load_file(weights).items()}
    tensors["layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(4)
    tensors = {k: v.bfloat16() for k, v in tensors.items()}
    save_file(tensors, weights)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.bfloat16())
        expected = model(ids()).logits
        torch.testing.assert_close(
            load_published(tmp_path)(ids())[0], expected, atol=2e-4, rtol=1e-4
        )


@pytest.mark.parametrize(
    "beside",
    [{"original_max_position_embeddings": 5}, {"original_max_position_embeddings": 48}, {}],
)
@pytest.mark.parametrize("inside", [{}, {"original_max_position_embeddings": 16}])
@pytest.mark.parametrize("name", ["rope_parameters", "rope_scaling"])
def test_the_first_length_beside_the_rotary_scaling_counts(tmp_path, beside, inside, name):
    """As in transformers: the one beside it, else the one inside, else the longest of today."""
    from transformers import AutoModelForCausalLM

    theirs().save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    values = json.loads(path.read_text())
    values.pop("rope_parameters")
    scaling = {k: v for k, v in LLAMA3.items() if k != "original_max_position_embeddings"}
    path.write_text(json.dumps({**values, name: scaling | inside, **beside}))
    ours, model = load_published(tmp_path), AutoModelForCausalLM.from_pretrained(tmp_path)
    with torch.no_grad():
        expected = model(ids()).logits
        torch.testing.assert_close(ours(ids())[0], expected, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "changed",
    [
        *(dict(factor=factor) for factor in (0, -2.0, float("inf"), float("nan"))),
        dict(low_freq_factor=0),
        dict(low_freq_factor=-1.0),
        dict(low_freq_factor=4.0),  # as high as the other
        dict(low_freq_factor=4.0, high_freq_factor=1.0),
        dict(high_freq_factor=float("nan")),
        dict(original_max_position_embeddings=0),
    ],
)
def test_a_rotary_scaling_without_sense_is_refused_with_its_values(changed):
    config = dict(model_type="llama") | SMALL
    with pytest.raises(ValueError, match="high_freq_factor above low_freq_factor; got") as caught:
        config_from_llama(config | dict(rope_parameters=LLAMA3 | changed))
    assert all(str(value) in str(caught.value) for value in changed.values())
    if "factor" in changed:
        with pytest.raises(ValueError, match="or the factor alone; all above 0"):
            config_from_llama(config | dict(rope_scaling={"type": "linear"} | changed))


@pytest.mark.parametrize("base", [0, -1.0, float("inf"), float("nan")])
def test_a_rotary_base_that_is_no_number_above_0_is_refused(base):
    with pytest.raises(ValueError, match="rotary_base must be a number above 0"):
        config_from_llama(dict(model_type="llama", rope_theta=base) | SMALL)


@pytest.mark.parametrize(
    ("values", "parameters"),
    [
        (  # SmolLM2-135M
            dict(
                model_type="llama",
                vocab_size=49152,
                hidden_size=576,
                intermediate_size=1536,
                num_hidden_layers=30,
                num_attention_heads=9,
                num_key_value_heads=3,
                max_position_embeddings=8192,
                rope_theta=100000,
                rope_interleaved=False,
                rope_scaling=None,
                pretraining_tp=1,
                is_llama_config=True,
                tie_word_embeddings=True,
            ),
            134_515_008,
        ),
        (  # Qwen2.5-0.5B
            dict(
                model_type="qwen2",
                vocab_size=151936,
                hidden_size=896,
                intermediate_size=4864,
                num_hidden_layers=24,
                num_attention_heads=14,
                num_key_value_heads=2,
                max_position_embeddings=32768,
                rope_theta=1000000.0,
                sliding_window=32768,
                use_sliding_window=False,
                max_window_layers=24,
                tie_word_embeddings=True,
            ),
            494_032_768,
        ),
    ],
    ids=["SmolLM2-135M", "Qwen2.5-0.5B"],
)
def test_published_shapes_have_their_parameters(values, parameters):
    assert count(config_from_llama(values)) == parameters


def another(value):
    """A value of the same type that asks for something else."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 2 + (value == 0)
    if isinstance(value, dict):
        return {"rope_type": "yarn"}
    return ["other"] if isinstance(value, list) else "other" if isinstance(value, str) else 7


@pytest.mark.parametrize("kind", ["Llama", "Mistral", "Qwen2", "Mixtral", "Phi3"])
def test_every_option_of_transformers_is_computed_or_refused_or_has_no_effect(kind):
    """Another value changes our settings or is refused, or a list says why it does neither."""
    import transformers

    window = dict(use_sliding_window=True, sliding_window=5, max_window_layers=0)
    config = getattr(transformers, f"{kind}Config")(**SMALL, **window if kind == "Qwen2" else {})
    values = config.to_dict()
    before = config_from_llama(values)
    others = {"_name_or_path", FIRST_LENGTH}  # the latter is of a scaling, and a Llama tests it
    for name in values.keys() - WITHOUT_EFFECT.keys() - others:
        try:
            after = config_from_llama(values | {name: another(values[name])})
        except ValueError:
            continue
        assert after != before, name
    for name in ONLY:
        with pytest.raises(ValueError, match=name):
            config_from_llama(values | {name: "other"})


def smol_layout():
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )


def qwen_layout():
    words = Regex(r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+")
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(words, "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )


@pytest.mark.parametrize("layout", [smol_layout, qwen_layout])
def test_a_folder_with_its_tokenizer_becomes_a_run_that_writes(tmp_path, layout):
    from transformers import AutoModelForCausalLM

    compiled = Tokenizer(models.BPE())
    compiled.pre_tokenizer, compiled.decoder = layout(), decoders.ByteLevel()
    compiled.normalizer = normalizers.NFC()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=alphabet,
        special_tokens=["<|im_end|>"],
        show_progress=False,
    )
    compiled.train_from_iterator(["the cat sat on 12 mats, and the dog", "ein Café"] * 9, trainer)
    v = compiled.get_vocab_size()
    theirs(vocab_size=v, eos_token_id=0, rope_parameters=LLAMA3).save_pretrained(tmp_path / "them")
    compiled.save(str(tmp_path / "them" / "tokenizer.json"))
    trained = import_gpt2(tmp_path / "them", tmp_path / "run")
    for text in ("the cat 12", "Cafe\u0301 über 99", " a  b\n"):
        ids_of_text = trained.tokenizer.encode(text)
        assert ids_of_text == compiled.encode(text, add_special_tokens=False).ids
    again = load_trained(tmp_path / "run")
    assert again.model.config == trained.model.config
    prompt = again.tokenizer.encode("the cat")
    written = [token.id for token in generate(again.model, prompt, 5, temperature=0)]
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "them")
    expected = model.generate(
        torch.tensor([prompt]),
        max_new_tokens=5,
        do_sample=False,
        eos_token_id=v + 1,
        pad_token_id=0,
    )
    assert written == expected[0, len(prompt) :].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            dict(model_type="mamba"),
            "model_type must be one of llama, mistral, qwen2, mixtral, phi3; got 'mamba'",
        ),
        *((dict(model_type=one), f"phi3; got '{one}'") for one in ("qwen3", "gemma3_text", "phi")),
        (dict(model_type="mixtral", num_local_experts=1), "num_local_experts must be at least 2"),
        (dict(hidden_act="gelu"), "hidden_act must be one of silu, swish; got 'gelu'"),
        (
            dict(head_dim=16),
            "head_dim times num_attention_heads must be hidden_size; got 16 × 4, 32",
        ),
        (
            dict(rope_parameters={"rope_type": "yarn", "factor": 2.0}),
            "rope_type must be one of default",
        ),
        (dict(rope_scaling={"type": "dynamic", "factor": 2.0}), "linear, llama3; got 'dynamic'"),
        (dict(rope_scaling={"type": "linear"}), 'rope_type "linear" needs factor'),
        (dict(rope_scaling=[2]), r"rope_scaling must be an object; got \[2\]"),
        (dict(partial_rotary_factor=0.5), "partial_rotary_factor must be 1.0; got 0.5"),
        (
            dict(rope_parameters={"rope_type": "default", "partial_rotary_factor": 0.5}),
            "partial_rotary_factor must be 1.0; got 0.5",
        ),
        (
            dict(rope_parameters={"rope_type": "default"}, rope_scaling={"type": "linear"}),
            "are two names of one option",
        ),
        (dict(rope_interleaved=True), "rope_interleaved must be False; got True"),
        (dict(quantization_config={"bits": 4}), "quantization_config must be None"),
        (dict(attention_bias="yes"), "attention_bias must be true or false; got 'yes'"),
        (dict(num_key_value_heads=3), "n_kv_head must divide n_head"),
        (dict(layer_types=["full_attention", "sliding_attention"]), "layer_types must be"),
        (
            dict(
                model_type="qwen2", use_sliding_window=True, sliding_window=4, max_window_layers=1
            ),
            "max_window_layers must be 0 or at least the number of layers, 2",
        ),
        (dict(model_type="mistral", layer_types=ALIKE), 'layer_types must be "sliding_attention"'),
    ],
)
def test_what_is_not_computed_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        config_from_llama(dict(model_type="llama") | SMALL | options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {n: t[n] for n in t if "k_proj" not in n}, "it lacks layers.0.self_attn.k_proj"),
        (lambda t: t | {"model.extra": torch.ones(1)}, "it has extra besides"),
        (
            lambda t: t | {"model.layers.1.self_attn.v_proj.weight": torch.ones(32, 32)},
            r"v_proj.weight must be \(16, 32\); got \(32, 32\)",
        ),
        (
            lambda t: t | {"model.layers.0.self_attn.q_proj.bias": torch.ones(32)},
            "it has layers.0.self_attn.q_proj.bias besides",
        ),
    ],
)
def test_other_tensors_are_refused(tmp_path, change, message):
    theirs().save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    save_file(change(load_file(weights)), weights)
    with pytest.raises(ValueError, match=message):
        load_published(tmp_path)


def test_a_head_of_its_own_in_the_files_of_a_tied_model_is_kept(tmp_path):
    theirs(tie_word_embeddings=True).save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    tensors = load_file(weights)
    same = tensors | {"lm_head.weight": tensors["model.embed_tokens.weight"].clone()}
    save_file(same, weights)
    assert load_published(tmp_path).config.tied_head
    save_file(tensors | {"lm_head.weight": torch.ones(37, 32)}, weights)
    model = load_published(tmp_path)
    assert not model.config.tied_head and (model.head.weight == 1).all()


def test_sizes_are_checked_before_anything_is_built(tmp_path):
    """A config that asks for more than any memory holds is refused by the files' headers."""
    theirs().save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    values = json.loads(path.read_text())
    for name, message in (("num_hidden_layers", "it lacks layers.2."), ("vocab_size", "must be")):
        path.write_text(json.dumps(values | {name: 10**9}))
        with pytest.raises(ValueError, match=message):
            load_published(tmp_path)
