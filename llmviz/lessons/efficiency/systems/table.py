"""Which system has which idea of this lesson, with the source of each statement.

A statement is there only where a source says it. Sources that bear no date of their own are dated
by the newest date that they name, or by their version; `READ` is when all of them were read.
"""

from __future__ import annotations

from dataclasses import dataclass

READ = "2026-11-23"
YES, PARTLY, NO_JOB, OPEN = STATES = ("yes", "partly", "no job", "open")


@dataclass(frozen=True)
class Source:
    """A document: its title, where it is, and its date (ISO, as far as it is known) or version."""

    title: str
    address: str
    date: str = ""
    version: str = ""


@dataclass(frozen=True)
class Idea:
    """An idea: its key, its name, what it is in one line, and the chapter that shows it."""

    key: str
    name: str
    about: str
    chapter: str


@dataclass(frozen=True)
class System:
    """A system: its key, its name, and what it does: the rest of a sentence that it begins."""

    key: str
    name: str
    about: str


@dataclass(frozen=True)
class Cell:
    """Whether a system has an idea, the key of the source that says so, and a remark."""

    state: str
    source: str = ""
    note: str = ""


IDEAS = [
    Idea("quantized", "quantized weights", "weights in 8 bits or fewer", "quantization"),
    Idea("paged", "paged cache", "keys and values in blocks of one size", "serving"),
    Idea("prefix", "shared prefixes", "what several texts begin with is kept once", "serving"),
    Idea("continuous", "continuous batching", "requests join and leave at each step", "serving"),
    Idea("chunked", "chunked prefill", "long prompts are read in pieces between steps", "serving"),
    Idea("speculative", "speculative decoding", "a draft guesses, the model checks", "guess"),
    Idea("flash", "flash attention", "attention in tiles that stay in fast memory", "flash"),
    Idea("tensor", "tensor parallel", "matrices are split over processors", "parallel"),
    Idea("pipeline", "pipeline parallel", "each processor has some of the layers", "parallel"),
    Idea("expert", "expert parallel", "each processor has some of the experts", "parallel"),
    Idea("sharded", "sharded training state", "no processor keeps the whole state", "parallel"),
    Idea("mixed", "mixed precision", "training with 16 bits or fewer where that is safe", "bits"),
    Idea("checkpointing", "gradient checkpointing", "activations are computed again", "memory"),
]
SERVING = ("quantized", "paged", "prefix", "continuous", "chunked", "speculative")
TRAINING = ("sharded", "mixed", "checkpointing")

SYSTEMS = [
    System("vllm", "vLLM", "serves models to many users at once"),
    System("trt", "TensorRT-LLM", "runs and serves models on NVIDIA's processors"),
    System("fastgen", "DeepSpeed-FastGen", "serves models, with DeepSpeed's inference engine"),
    System("sglang", "SGLang", "serves models, also in programs of many calls"),
    System("llamacpp", "llama.cpp", "runs models on one's own machine, and serves them"),
    System("transformers", "transformers", "trains and runs models of many kinds, as a library"),
    System("megatron", "Megatron-LM", "trains large models on many processors, and can run them"),
    System("fsdp", "PyTorch FSDP", "trains models with sharded state, as a part of PyTorch"),
]

_VLLM = "https://github.com/vllm-project/vllm/blob/"
_SGLANG = "https://github.com/sgl-project/sglang/blob/01d2a3d0d57bc35da92de3833d72412c0b448210/"
_HF = "https://huggingface.co/docs/transformers/"
_MEGATRON = "https://github.com/NVIDIA/Megatron-LM/blob/"
SOURCES = {
    "vllm": Source(
        "vLLM, README.md",
        _VLLM + "004dadbe4ed2cac9b4f140c50cc6a8d188c07c91/README.md",
        date="2025-01",
    ),
    "vllm-experts": Source(
        "vLLM, Expert Parallel Deployment",
        _VLLM
        + "017025691b3006ed548f763fd394a846affa6064/docs/serving/expert_parallel_deployment.md",
        version="commit 0170256",
    ),
    "trt": Source(
        "TensorRT LLM, Overview",
        "https://nvidia.github.io/TensorRT-LLM/1.2.0rc6/overview.html",
        version="1.2.0rc6",
    ),
    "trt-attention": Source(
        "TensorRT LLM, Multi-Head, Multi-Query, and Group-Query Attention",
        "https://nvidia.github.io/TensorRT-LLM/features/attention.html",
        version="newest",
    ),
    "fastgen": Source(
        "DeepSpeed-FastGen: High-throughput Text Generation for LLMs via MII and "
        "DeepSpeed-Inference, DeepSpeed's blog",
        "https://github.com/microsoft/DeepSpeed/blob/master/blogs/deepspeed-fastgen/README.md",
        date="2023-11",
    ),
    "sglang": Source(
        "SGLang Documentation, first page",
        _SGLANG + "docs/index.rst",
        version="commit 01d2a3d",
    ),
    "sglang-attention": Source(
        "SGLang Documentation, Attention Backend",
        "https://docs.sglang.io/advanced_features/attention_backend.html",
        version="newest",
    ),
    "sglang-endpoints": Source(
        "Hugging Face, Inference Endpoints: SGLang",
        "https://huggingface.co/docs/inference-endpoints/main/engines/sglang",
        version="main",
    ),
    "llamacpp": Source(
        "llama.cpp, tools/server/README.md",
        "https://github.com/ggml-org/llama.cpp/blob/"
        "00dc8057ab28c9cb4c79a6dd6dfce07fe779f63b/tools/server/README.md",
        version="commit 00dc805",
    ),
    "hf-batching": Source(
        "transformers, Continuous batching",
        _HF + "v5.3.0/en/continuous_batching",
        version="5.3.0",
    ),
    "hf-assisted": Source(
        "transformers, Assisted decoding", _HF + "v5.3.0/assisted_decoding", version="5.3.0"
    ),
    "hf-paged": Source(
        "transformers, Paged attention", _HF + "main/en/paged_attention", version="main, after 5.8"
    ),
    "hf-tensor": Source(
        "transformers, Tensor parallelism", _HF + "v5.3.0/perf_infer_gpu_multi", version="5.3.0"
    ),
    "hf-quantization": Source(
        "transformers, Quantization: Overview", _HF + "quantization/overview", version="newest"
    ),
    "hf-mixed": Source(
        "transformers, Mixed precision training",
        _HF + "en/mixed_precision_training",
        version="newest",
    ),
    "hf-checkpointing": Source(
        "transformers, Gradient checkpointing", _HF + "en/grad_checkpointing", version="newest"
    ),
    "megatron": Source(
        "Megatron-LM & Megatron-Core, README.md",
        _MEGATRON + "0010ab7484337a1089ad9c35a0ce8723ed6b4740/README.md",
        date="2024-07",
    ),
    "megatron-context": Source(
        "Megatron-Core, megatron/core/inference/contexts/dynamic_context.py",
        _MEGATRON + "0044f2f4bc46bc98fe2013206030205e6247cf4e/"
        "megatron/core/inference/contexts/dynamic_context.py",
        version="commit 0044f2f",
    ),
    "megatron-config": Source(
        "Megatron-Core, megatron/core/inference/config.py",
        _MEGATRON + "00611e6eeb0b09b5ee074750956855215ddbd67f/megatron/core/inference/config.py",
        version="commit 00611e6",
    ),
    "megatron-fsdp": Source(
        "Megatron-Core, Megatron FSDP",
        "https://docs.nvidia.com/megatron-core/developer-guide/nightly/user-guide/features/"
        "custom_fsdp.html",
        version="nightly",
    ),
    "fsdp": Source(
        "PyTorch, Getting Started with Fully Sharded Data Parallel (FSDP2)",
        "https://docs.pytorch.org/tutorials/intermediate/FSDP_tutorial.html",
        date="2025-09-02",
    ),
    "fsdp-api": Source(
        "PyTorch, FullyShardedDataParallel",
        "https://docs.pytorch.org/docs/stable/fsdp.html",
        version="stable",
    ),
}


def _all(state: str, source: str, *ideas: str) -> dict[str, Cell]:
    return {idea: Cell(state, source) for idea in ideas}


# What a system has, as a source says. For NO_JOB the source says what the system is for instead.
# An idea that is left out was not found in these sources; nothing is claimed about it.
CELLS: dict[str, dict[str, Cell]] = {
    "vllm": {
        **_all(YES, "vllm", *SERVING, "flash", "tensor", "pipeline"),
        "expert": Cell(PARTLY, "vllm-experts", "the source calls it experimental"),
        **_all(NO_JOB, "vllm", *TRAINING),
    },
    "trt": {
        **_all(YES, "trt", "quantized", "paged", "continuous", "chunked", "speculative"),
        "prefix": Cell(YES, "trt", "called block reuse"),
        "flash": Cell(YES, "trt-attention"),
        **_all(YES, "trt", "tensor", "pipeline", "expert"),
        **_all(NO_JOB, "trt", *TRAINING),
    },
    "fastgen": {
        "paged": Cell(YES, "fastgen", "called blocked KV caching"),
        "continuous": Cell(YES, "fastgen"),
        "chunked": Cell(YES, "fastgen", "called Dynamic SplitFuse"),
        "flash": Cell(YES, "fastgen"),
        "tensor": Cell(YES, "fastgen", "measured on four processors there"),
        **_all(NO_JOB, "fastgen", *TRAINING),
    },
    "sglang": {
        **_all(YES, "sglang", "quantized", "paged", "continuous", "chunked", "speculative"),
        "prefix": Cell(YES, "sglang", "called RadixAttention"),
        "flash": Cell(YES, "sglang-attention"),
        "tensor": Cell(YES, "sglang"),
        **_all(YES, "sglang-endpoints", "pipeline", "expert"),
        **_all(NO_JOB, "sglang", *TRAINING),
    },
    "llamacpp": {
        **_all(YES, "llamacpp", "quantized", "continuous", "speculative", "flash"),
        "prefix": Cell(PARTLY, "llamacpp", "a request goes on with the cache of an earlier one"),
        "tensor": Cell(PARTLY, "llamacpp", "by rows; to split the cache as well is experimental"),
        "pipeline": Cell(YES, "llamacpp", "layers are split over processors, the default"),
    },
    "transformers": {
        "quantized": Cell(YES, "hf-quantization"),
        "paged": Cell(YES, "hf-paged"),
        **_all(YES, "hf-batching", "continuous", "chunked"),
        "speculative": Cell(PARTLY, "hf-assisted", "not for several texts in one batch"),
        "flash": Cell(YES, "hf-paged", "the kernels below paged attention"),
        "tensor": Cell(YES, "hf-tensor", "for the models that have a plan"),
        "mixed": Cell(YES, "hf-mixed"),
        "checkpointing": Cell(YES, "hf-checkpointing"),
    },
    "megatron": {
        **_all(YES, "megatron", "flash", "tensor", "pipeline", "expert", "mixed", "checkpointing"),
        **_all(YES, "megatron-context", "paged", "continuous"),
        **_all(YES, "megatron-config", "prefix", "chunked", "speculative"),
        "sharded": Cell(YES, "megatron-fsdp"),
    },
    "fsdp": {
        "sharded": Cell(YES, "fsdp", "parameters, gradients and the optimizer's state"),
        "mixed": Cell(YES, "fsdp-api"),
        **_all(NO_JOB, "fsdp", "paged", "prefix", "continuous", "chunked", "speculative"),
    },
}


def cell(system: str, idea: str) -> Cell:
    """Return what is known of an idea in a system; open where nothing is claimed.

    Raises KeyError for an unknown system.
    """
    return CELLS[system].get(idea, Cell(OPEN))
