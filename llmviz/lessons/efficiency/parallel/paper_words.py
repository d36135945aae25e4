"""All that the part "On paper" of the chapter "Many machines" says. In braces: live numbers."""

TITLE = "On paper: your model, your machines"
TEXT = (
    "What does it take to train a model of your size? Choose a known one, or type your own "
    "numbers. Memory is that of training with Adam in mixed precision: 2 bytes a weight, 2 a "
    "gradient, 12 for the optimizer (a float32 copy and two averages). Activations come on top."
)
PRESET = "Fill in a model"
PRESETS = {
    "gpt3": "GPT-3, 175 B",
    "llama2small": "Llama 2, 7 B",
    "llama2": "Llama 2, 70 B",
    "llama3": "Llama 3.1, 405 B",
}
GPU = "Fill in a GPU"
GPUS_KNOWN = {"v100": "V100, 32 GB", "a100": "A100, 80 GB", "h100": "H100, 80 GB"}
NUMBERS = {
    "fleetbillions": "Parameters, billions",
    "fleettokens": "Tokens, billions",
    "fleetgpus": "GPUs",
    "fleetbatch": "Tokens a step, millions",
    "fleetpeak": "Peak of a GPU, Tflop/s",
    "fleetuse": "Reached, % of the peak",
    "fleetmemory": "Memory of a GPU, GB",
    "fleetband": "A GPU sends, GB/s",
}
AGAINST = "Compute the forward pass twice, to keep fewer activations (gradient checkpointing)"
AXIS = "gigabytes per GPU"
LIMIT = "memory of one GPU"
STAGES = {"data": "data parallel", "zero1": "ZeRO 1", "zero2": "ZeRO 2", "zero3": "ZeRO 3"}
COLUMNS = (
    "way",
    "memory per GPU",
    "fits",
    "sent per GPU and step",
    "sending takes",
    "sending ÷ computing",
)
FITS = {True: "yes", False: "no"}
STEPS = ("1 step", "{steps} steps")
GPUS_COUNTED = ("1 GPU", "{gpus:,} GPUs")
DAYS = (
    "The arithmetic of one step takes **{step}**. The whole training has {steps} and takes "
    "**{time}** on {gpus}: {hours} GPU-hours and {operations} operations, {each} for each "
    "parameter and token. Sending comes on top where it cannot go on during the computation."
)
FITS_LINE = {
    "": (
        "With none of these ways does what each GPU holds fit into its memory. More GPUs help "
        "ZeRO; tensor parallel and pipeline split the model, too."
    ),
    "data": "Even with data parallel alone, weights, gradients and state fit into one GPU.",
    "other": (
        "With {stage}, what each GPU holds fits into its memory. With the ways above it in the "
        "table it does not."
    ),
}
ASK = (
    "With {gpus:,} GPUs, ZeRO 3 needs 1 ÷ {gpus:,} of the memory of data parallel. What does it "
    "cost in bytes that each GPU sends in a step?"
)
ANSWERS = (
    "As many as data parallel",
    "1.5 times as many as data parallel",
    "{gpus:,} times as many as data parallel",
)
REASONS = (
    "That holds for stages 1 and 2: a reduce-scatter of the gradients and an all-gather of the "
    "weights are the two halves of an all-reduce.",
    (
        "Weights are gathered twice, for the forward and for the backward pass, and gradients are "
        "reduce-scattered: three halves of an all-reduce instead of two."
    ),
    "Each GPU sends parts alone, less than all weights in each gathering, however many GPUs there "
    "are.",
)
SOURCES = (
    "Sources. ZeRO and its bytes: Rajbhandari et al. 2020. GPT-3: Brown et al. 2020 (300 billion "
    "tokens, 3.2 million a step); on 1,024 A100 at 140 Tflop/s: an estimate of Narayanan et al. "
    "2021, with the forward pass computed twice. Llama 2: Touvron et al. 2023 (2,000 billion "
    "tokens, 4 million a step; 1,720,320 GPU-hours on A100 for 70 B and 184,320 for 7 B, which "
    "is 43 % and 41 % of the peak; the numbers of GPUs are assumed). Llama 3.1: Grattafiori et al. "
    "2024 (15,600 billion tokens, 16 million a step at the end, 16,384 H100 at 41 %). GPUs: "
    "NVIDIA's datasheets, 16-bit without sparsity; 6.25, 25 and 50 GB/s to other machines, as each "
    "GPU of a DGX-1, DGX A100 and DGX H100 has."
)
