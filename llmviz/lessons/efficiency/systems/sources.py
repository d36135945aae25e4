"""Sources of the chapter's statements: each with its title, its address and its date or version.

The date is the document's own: the newest day that it names; of a thread that says no, the day of
the answer that says so. The version is that of the software which the document describes.
"""

from dataclasses import dataclass

READ = "2026-11-23"


@dataclass(frozen=True)
class Source:
    """A document: its title, where it is, and its date (ISO, as far as it is known) or version."""

    title: str
    address: str
    date: str = ""
    version: str = ""


_VLLM = "https://github.com/vllm-project/vllm/blob/"
_TRT = "https://github.com/NVIDIA/TensorRT-LLM/"
_DEEPSPEED = "https://github.com/deepspeedai/DeepSpeed/blob/"
_MII = "https://github.com/deepspeedai/DeepSpeed-MII/"
_SGLANG = "https://github.com/sgl-project/sglang/blob/v0.5.23/"
_SGLANG_CODE = _SGLANG + "python/sglang/srt/"
_LLAMA = "https://github.com/ggml-org/llama.cpp/"
_HF = "https://huggingface.co/docs/transformers/"
_HF_CODE = "https://github.com/huggingface/transformers/blob/v5.23.0/src/transformers/"
_MEGATRON = "https://github.com/NVIDIA/Megatron-LM/blob/"
_MEGATRON_CORE = _MEGATRON + "core_v0.19.2/megatron/core/"
_TORCH = "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/"
SOURCES = {
    "vllm": Source(
        "vLLM, README.md",
        _VLLM + "004dadbe4ed2cac9b4f140c50cc6a8d188c07c91/README.md",
        date="2025-01",
    ),
    "vllm-experts": Source(
        "vLLM, Expert Parallel Deployment",
        "https://docs.vllm.ai/en/v0.10.1.1/serving/expert_parallel_deployment.html",
        version="0.10.1.1",
    ),
    "vllm-training": Source(
        "vLLM, issue 660: how to support prefix-tuning?",
        "https://github.com/vllm-project/vllm/issues/660",
        date="2024-03-08",
    ),
    "trt": Source(
        "TensorRT LLM, Overview",
        "https://nvidia.github.io/TensorRT-LLM/1.2.0rc6/overview.html",
        version="1.2.0rc6",
    ),
    "trt-flash": Source(
        "TensorRT-LLM, issue 1947: FlashAttention 3 support",
        _TRT + "issues/1947",
        date="2024-10-15",
    ),
    "fastgen": Source(
        "DeepSpeed-FastGen: High-throughput Text Generation for LLMs via MII and "
        "DeepSpeed-Inference, DeepSpeed's blog",
        _DEEPSPEED + "master/blogs/deepspeed-fastgen/README.md",
        date="2023-11",
    ),
    "fastgen-fp6": Source(
        "DeepSpeed-FP6: The Power of FP6-Centric Serving for Large Language Models, "
        "DeepSpeed's blog",
        _DEEPSPEED + "master/blogs/deepspeed-fp6/03-05-2024/README.md",
        date="2024-03-05",
    ),
    "fastgen-parallel": Source(
        "DeepSpeed-MII, issue 389: support for mixtral family?",
        _MII + "issues/389",
        date="2024-01-30",
    ),
    "sglang-model": Source(
        "SGLang, arg_groups/fields/model.py",
        _SGLANG_CODE + "arg_groups/fields/model.py",
        version="0.5.23",
    ),
    "sglang-schedule": Source(
        "SGLang, arg_groups/fields/schedule.py",
        _SGLANG_CODE + "arg_groups/fields/schedule.py",
        version="0.5.23",
    ),
    "sglang-batches": Source(
        "SGLang, managers/schedule_batch.py",
        _SGLANG_CODE + "managers/schedule_batch.py",
        version="0.5.23",
    ),
    "sglang-memory": Source(
        "SGLang, arg_groups/fields/memory.py",
        _SGLANG_CODE + "arg_groups/fields/memory.py",
        version="0.5.23",
    ),
    "sglang-speculative": Source(
        "SGLang, arg_groups/fields/spec.py",
        _SGLANG_CODE + "arg_groups/fields/spec.py",
        version="0.5.23",
    ),
    "sglang-flash": Source(
        "SGLang, layers/attention/flashattention_backend.py",
        _SGLANG_CODE + "layers/attention/flashattention_backend.py",
        version="0.5.23",
    ),
    "sglang-parallel": Source(
        "SGLang, arg_groups/fields/parallel.py",
        _SGLANG_CODE + "arg_groups/fields/parallel.py",
        version="0.5.23",
    ),
    "llamacpp": Source(
        "llama.cpp, its first README.md",
        _LLAMA + "blob/007a8f6f459c6eb56678fdee4c09219ddb85b640/README.md",
        date="2023-03",
    ),
    "llamacpp-paged": Source(
        "llama.cpp, pull request 18747: KV cache size limiting and block tracking",
        _LLAMA + "pull/18747",
        date="2026-01-13",
    ),
    "llamacpp-prefix": Source(
        "llama.cpp, pull request 16391: host-memory prompt caching",
        _LLAMA + "pull/16391",
        date="2025-10-02",
    ),
    "llamacpp-continuous": Source(
        "llama.cpp, pull request 6231: enable continuous batching by default",
        _LLAMA + "pull/6231",
        date="2024-03-22",
    ),
    "llamacpp-chunked": Source(
        "llama.cpp, issue 29175: one prefill chunk blocks decode for all sequences",
        _LLAMA + "issues/29175",
        date="2026-09-20",
    ),
    "llamacpp-speculative": Source(
        "llama.cpp, pull request 10455: add speculative decoding support",
        _LLAMA + "pull/10455",
        date="2024-12-19",
    ),
    "llamacpp-flash": Source(
        "llama.cpp, pull request 5021: add Flash Attention", _LLAMA + "pull/5021", date="2024-01-18"
    ),
    "llamacpp-split": Source(
        "llama.cpp, docs/multi-gpu.md: Using multiple GPUs (pull request 22729)",
        _LLAMA + "pull/22729",
        date="2026-05-07",
    ),
    "hf-batching": Source(
        "transformers, Continuous batching",
        _HF + "v5.3.0/en/continuous_batching",
        version="5.3.0",
    ),
    "hf-cache": Source(
        "transformers, generation/continuous_batching/cache.py",
        _HF_CODE + "generation/continuous_batching/cache.py",
        version="5.23.0",
    ),
    "hf-assisted": Source(
        "transformers, Assisted decoding", _HF + "v5.15.1/assisted_decoding", version="5.15.1"
    ),
    "hf-flash": Source(
        "transformers, integrations/flash_attention.py",
        _HF_CODE + "integrations/flash_attention.py",
        version="5.23.0",
    ),
    "hf-distributed": Source(
        "transformers, distributed/configuration_utils.py",
        _HF_CODE + "distributed/configuration_utils.py",
        version="5.23.0",
    ),
    "hf-quantization": Source(
        "transformers, Quantization: Overview",
        _HF + "v5.8.1/quantization/overview",
        version="5.8.1",
    ),
    "hf-training": Source(
        "transformers, training_args.py", _HF_CODE + "training_args.py", version="5.23.0"
    ),
    "megatron": Source(
        "Megatron-LM & Megatron-Core, README.md",
        _MEGATRON + "0010ab7484337a1089ad9c35a0ce8723ed6b4740/README.md",
        date="2024-07",
    ),
    "megatron-changes": Source(
        "Megatron-LM, CHANGELOG.md",
        _MEGATRON + "0a296d15ed1a035e24129f0493f7cd5431e91f53/CHANGELOG.md",
        version="0.14.0 of Megatron Core",
    ),
    "megatron-context": Source(
        "Megatron-Core, inference/contexts/dynamic_context.py",
        _MEGATRON_CORE + "inference/contexts/dynamic_context.py",
        version="0.19.2",
    ),
    "megatron-config": Source(
        "Megatron-Core, inference/config.py",
        _MEGATRON_CORE + "inference/config.py",
        version="0.19.2",
    ),
    "megatron-fsdp": Source(
        "Megatron-Core, distributed/fsdp/src/megatron_fsdp/fully_shard.py",
        _MEGATRON_CORE + "distributed/fsdp/src/megatron_fsdp/fully_shard.py",
        version="0.19.2",
    ),
    "fsdp": Source(
        "PyTorch, Getting Started with Fully Sharded Data Parallel (FSDP2)",
        "https://docs.pytorch.org/tutorials/intermediate/FSDP_tutorial.html",
        date="2025-09-02",
    ),
    "fsdp-api": Source(
        "PyTorch, fully_shard",
        _TORCH + "distributed/fsdp/_fully_shard/_fully_shard.py",
        version="2.13.0",
    ),
}
