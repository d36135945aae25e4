"""Which system has which idea of this lesson, with the source of each statement.

A statement is there only where a source says it; `sources` lists them with their dates.
"""

from dataclasses import dataclass

YES, PARTLY, NO, OPEN = STATES = ("yes", "partly", "no", "open")


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


def _all(state: str, source: str, *ideas: str) -> dict[str, Cell]:
    return {idea: Cell(state, source) for idea in ideas}


# What a system has, as a source says. NO: the source itself says no, as of its date. A request that
# is open, a list of features or a system's purpose says no such thing. An idea that is left out was
# found in no source; nothing is claimed about it.
CELLS: dict[str, dict[str, Cell]] = {
    "vllm": {
        **_all(YES, "vllm", *SERVING, "flash", "tensor", "pipeline"),
        "expert": Cell(PARTLY, "vllm-experts", "the source calls it experimental"),
        **{idea: Cell(NO, "vllm-training", "training is called out of scope") for idea in TRAINING},
    },
    "trt": {
        **_all(YES, "trt", "quantized", "paged", "continuous", "chunked", "speculative"),
        "prefix": Cell(YES, "trt", "called block reuse"),
        "flash": Cell(YES, "trt-flash", "kernels of its own"),
        **_all(YES, "trt", "tensor", "pipeline", "expert"),
    },
    "fastgen": {
        "quantized": Cell(YES, "fastgen-fp6", "6 bits a weight"),
        "paged": Cell(YES, "fastgen", "called blocked KV caching"),
        "continuous": Cell(YES, "fastgen"),
        "chunked": Cell(YES, "fastgen", "called Dynamic SplitFuse"),
        "flash": Cell(YES, "fastgen"),
        "tensor": Cell(YES, "fastgen", "measured on four processors there"),
        "expert": Cell(NO, "fastgen-parallel", "not supported, as an author answers"),
    },
    "sglang": {
        "quantized": Cell(YES, "sglang-model"),
        **_all(YES, "sglang-schedule", "paged", "chunked"),
        "prefix": Cell(YES, "sglang-memory", "called RadixAttention"),
        "continuous": Cell(YES, "sglang-batches"),
        "speculative": Cell(YES, "sglang-speculative"),
        "flash": Cell(YES, "sglang-flash"),
        **_all(YES, "sglang-parallel", "tensor", "pipeline", "expert"),
    },
    "llamacpp": {
        "quantized": Cell(YES, "llamacpp", "what it began with"),
        "paged": Cell(NO, "llamacpp-paged", "not implemented, as a maintainer writes"),
        "prefix": Cell(
            PARTLY, "llamacpp-prefix", "a request goes on with the cache of an earlier one"
        ),
        "continuous": Cell(YES, "llamacpp-continuous"),
        "chunked": Cell(YES, "llamacpp-chunked", "as many tokens a step as one batch takes"),
        "speculative": Cell(YES, "llamacpp-speculative"),
        "flash": Cell(YES, "llamacpp-flash"),
        "tensor": Cell(PARTLY, "llamacpp-split", "the source calls it experimental"),
        "pipeline": Cell(YES, "llamacpp-split", "the default with several processors"),
    },
    "transformers": {
        "quantized": Cell(YES, "hf-quantization"),
        "paged": Cell(YES, "hf-cache"),
        "prefix": Cell(YES, "hf-cache", "where all layers attend to the whole text"),
        **_all(YES, "hf-batching", "continuous", "chunked"),
        "speculative": Cell(PARTLY, "hf-assisted", "not for several texts in one batch"),
        "flash": Cell(YES, "hf-flash"),
        "tensor": Cell(YES, "hf-distributed", "for the models that have a plan"),
        **_all(YES, "hf-distributed", "pipeline", "expert", "sharded"),
        **_all(YES, "hf-training", "mixed", "checkpointing"),
    },
    "megatron": {
        "quantized": Cell(YES, "megatron-changes", "8 bits in inference and training"),
        **_all(YES, "megatron", "flash", "tensor", "pipeline", "expert", "mixed", "checkpointing"),
        **_all(YES, "megatron-context", "paged", "continuous"),
        **_all(YES, "megatron-config", "prefix", "chunked", "speculative"),
        "sharded": Cell(YES, "megatron-fsdp"),
    },
    "fsdp": {
        "sharded": Cell(YES, "fsdp", "parameters, gradients and the optimizer's state"),
        "mixed": Cell(YES, "fsdp-api"),
    },
}


def cell(system: str, idea: str) -> Cell:
    """Return what is known of an idea in a system; open where nothing is claimed.

    Raises KeyError for an unknown system.
    """
    return CELLS[system].get(idea, Cell(OPEN))
