"""All that the chapter "Many machines" says. Names in braces: live numbers."""

TITLE = "Many machines"
TEXT = (
    "A model may be too large for one machine, or its training too long. Then several processes "
    "share one training, as a rule each on a GPU of its own. They must end with the "
    "same model as one process would. They differ in what is split: the rows of the batch, the "
    "optimizer's numbers, the weights, the layers. What is split must be sent around.\n\n"
    "Choose a way to share. All of them were really run: a small GPT of {layers} layers and "
    "{parameters:,} parameters learns from bytes of the bundled stories, on processes of one "
    "machine that send each other messages over its loopback network, with torch.distributed and "
    "its library gloo."
)
METHOD = "What is split"
METHODS = {
    "data": "Rows",
    "zero1": "ZeRO 1",
    "zero2": "ZeRO 2",
    "zero3": "ZeRO 3",
    "tensor": "Matrices",
    "gpipe": "Layers (GPipe)",
    "1f1b": "Layers (1F1B)",
    "experts": "Experts",
}
ABOUT = {
    "data": (
        "**Data parallel.** Each process has the whole model and its own rows of the batch: "
        "{rows} of {batch}. It computes the gradients of its rows. An [[all-reduce]] adds up the "
        "gradients of all processes and gives the sum to each, so that all make the same update."
    ),
    "zero1": (
        "**ZeRO, stage 1.** As data parallel, with {rows} of {batch} rows each. But AdamW keeps "
        "two numbers for each weight, and it is enough that one process does so. Each process "
        "gets the summed gradients of its part ([[reduce-scatter]]), updates that part of the "
        "weights, and the parts are sent to all ([[all-gather]])."
    ),
    "zero2": (
        "**ZeRO, stage 2.** As stage 1, but a process also lets go of gradients that others need. "
        "As soon as the backward pass has a block's gradients, they are summed and each process "
        "keeps its part ([[reduce-scatter]])."
    ),
    "zero3": (
        "**ZeRO, stage 3**, which torch calls `fully_shard` (FSDP). Weights are split, too. A "
        "block's weights are gathered before the block computes ([[all-gather]]), let go after it, "
        "and gathered again for its backward pass. The embedding and the head are gathered once "
        "a step."
    ),
    "tensor": (
        "**Tensor parallel.** All processes compute the same {batch} rows, but each has only some "
        "of the heads and some of the hidden numbers of every layer. What they compute is a part "
        "of a sum, and an [[all-reduce]] adds it up: twice for each layer in the forward pass and "
        "twice in the backward pass."
    ),
    "gpipe": (
        "**Pipeline, GPipe.** Each process has some of the layers and passes its output on to the "
        "next one. The batch goes through in {micro} [[micro-batch|micro-batches]] of {rows} rows, "
        "so that several processes can work at the same time. First all go forward, then all go "
        "back."
    ),
    "1f1b": (
        "**Pipeline, 1F1B** (one forward, one backward). As GPipe, with {micro} "
        "[[micro-batch|micro-batches]] of {rows} rows. But a process begins with backward passes "
        "as soon as it can, and then takes turns: one forward, one back. So fewer micro-batches "
        "are on their way at once, and fewer activations have to be kept."
    ),
    "experts": (
        "**Expert parallel.** This model has {experts} feed-forward networks (experts) in each "
        "layer, and a router sends each token to two of them: a [[mixture of experts]]. Each "
        "process has its rows ({rows} of {batch}) and its experts. Tokens travel to the process of "
        "their expert and back ([[all-to-all]]). All that is not an expert is shared as in data "
        "parallel."
    ),
}
PROCESSES = "Processes"
PROCESSES_OF = {"2": "2", "4": "4"}
MICRO = "Micro-batches"
RECORDED = (
    "These are the figures of a run that comes with the app, made by `{command}` on a machine "
    "with {cores} cores."
)
LIVE = "These are the figures of the run that was just made here, on a machine with {cores} cores."
TURNS = (
    "{processes} processes on {cores} cores take turns: the times say how the work is ordered, not "
    "how fast {processes} machines would be."
)
RUN = "Run it here, now"
RUNS = "{processes} processes train …"
SO_FAR = "Step {step} of {steps}: loss {loss:.4f} nats per token."
DONE = "It has ended. The figures of this chapter are now those of this run."
STOPPED = "The run was stopped. Its processes have ended."
AGAIN = "Run again"

PLACES_TITLE = "What lies where"
PLACES_TEXT = (
    "Each row is one process, with its weights, its gradients when the backward pass has ended, "
    "and the optimizer's state. The pale bar is the whole model from the embedding (left) to the "
    "head (right). What is coloured lies in this process; a colour is a layer. Point at a piece "
    "for its numbers."
)
KINDS = {"weights": "weights", "gradients": "gradients", "state": "optimizer state"}
ROW = "{process} · {kind}"
PLACES_AXIS = "parameters of the model"
PARTS = {
    "embedding": "embedding",
    "head": "last norm and head",
    "attention": "layer {layer}, attention",
    "mlp": "layer {layer}, feed-forward",
    "router": "layer {layer}, norm and router",
    "expert": "layer {layer}, expert {expert}",
}
PIECE = "{part}: {numbers:,} of {whole:,} numbers, {bytes}"
HELD = (
    "The process that holds the most has **{most}** of weights, gradients and state. One process "
    "alone would have {alone}, so it holds {share} of that. All processes together hold {all}."
)
COMPARED = "The same for all ways on {processes} processes: what the process that holds most has."
COMPARED_NOTE = "The model with experts is larger than the others, so its bar starts higher."
HELD_AXIS = "megabytes"

TIMES_TITLE = "Who works when"
TIMES_TEXT = (
    "The fastest step of the run, by the clock of the machine. Where a process waits, another one "
    "that it needs is not there yet. Point at a span for what it is."
)
TIME_KINDS = {
    "forward": "forward",
    "backward": "backward",
    "update": "update",
    "send": "on its way",
    "wait": "waits",
}
TIME_AXIS = "milliseconds"
PROCESS = "process {number}"
STRETCH = "{what}: {time:.2f} ms"
WAITS_FOR = "waits: {label}"
SENDS = "on its way: {label}"
STEP_TIME = (
    "The fastest step took {step:.0f} ms, and {alone:.0f} ms on one process alone. Of the time of "
    "all processes in this step, {compute} went into computing, in {send} data were on their way, "
    "and in {wait} a process waited, for another one or for a core."
)
BUBBLE = (
    "The time in which a process of a pipeline does not compute is called its [[bubble]]. In the "
    "step that is drawn it is **{measured}** of the time of all processes. That has more in it "
    "than the pipeline: messages take time, and {why}.\n\n"
    "So here is the same step as it would be without that: each piece takes as long as a core "
    "really worked on it, every process has a core of its own, and messages take no time. The "
    "update is left out."
)
WHY_TURNS = "processes without a core of their own wait for one"
WHY_CORES = "other programs use the cores, too"
REPLAYED = (
    "Now a process does not compute in **{replayed}** of the time. With p = {processes} stages and "
    "m = {micro} micro-batches the formula (p − 1) ÷ (m + p − 1) gives **{formula}**, for stages "
    "and micro-batches that all take equally long."
)

SAME_TITLE = "The same model?"
SAME_TEXT = (
    "The loss of the whole batch at each step, on {processes} processes and on one. The largest "
    "difference between two losses is {loss}, and after {steps} steps the largest difference "
    "between two weights is {weight}.{logits} The differences come from rounding: numbers are "
    "added in another order. Adam divides by the size of the gradient, which makes rounding "
    "visible where that is near 0. A wrong gradient would move a weight by about the learning "
    "rate, {rate}, in one step."
)
LOGITS = " Before the first step, the logits differ by at most {logits}."
SAME_AXES = ("step", "loss, nats per token")
SAME_NAMES = ("one process", "{processes} processes")

SENT_TITLE = "What is sent"
SENT_TEXT = {
    "data": (
        "In a ring of N processes with P bytes of gradients, an all-reduce sends 2 · (N − 1) ÷ N · "
        "P bytes from each process: first parts go round and are added up, so that each process "
        "has the sum of one part, then these sums go round."
    ),
    "zero1": (
        "The all-reduce falls into its two halves: a reduce-scatter of the gradients and an "
        "all-gather of the weights, (N − 1) ÷ N · P bytes each. Stages 1 and 2 send as much as "
        "data parallel."
    ),
    "zero3": (
        "The weights of the blocks are gathered twice, those around them once, and all gradients "
        "are reduce-scattered. Each is (N − 1) ÷ N of the bytes. If all weights were gathered "
        "twice, it would be 1.5 times what data parallel sends."
    ),
    "tensor": (
        "Four all-reduces a layer, each of B · T · C numbers of 4 bytes: rows, tokens, width. "
        "It grows with the batch, not with the parameters, and no process can go on meanwhile. So "
        "tensor parallel is used inside one machine, where the connections are fast."
    ),
    "gpipe": (
        "At each border between two processes, B · T · C numbers of 4 bytes go forward and as many "
        "gradients come back. The first and the last process have one border, the others two. It "
        "is little beside the other ways."
    ),
    "experts": (
        "In each layer a row that goes to another process travels four times: there and back, and "
        "the same for its gradients, C numbers of 4 bytes each time. Half of it is sent by its own "
        "process, half by the other. How many rows go depends on the router. Besides, the "
        "gradients of all that is not an expert are all-reduced."
    ),
}
SENT_COLUMNS = (
    "process",
    "operation",
    "times a step",
    "counted, bytes a step",
    "by formula",
    "its sockets sent",
)
OPERATIONS = {
    "all_reduce": "all-reduce",
    "reduce_scatter": "reduce-scatter",
    "all_gather": "all-gather",
    "all_to_all": "all-to-all",
    "send": "send",
}
SENT_NOTE = (
    "Counted: what a ring sends for each operation that ran, on tensors of that size. By formula: "
    "from the settings alone. Its sockets sent: what the operating system counted for all "
    "operations of the process together; each message has a few more bytes at its head."
)
NO_SOCKETS = "This system does not say what sockets sent."
GLOO = (
    "The sockets of process 1 sent {times:.2f} times what was counted. A library may do an "
    "operation in another way than a ring: if a reduce-scatter is made of a whole all-reduce, of "
    "which each process keeps its part, {double} would be sent; its sockets sent {sockets}. For "
    "GPUs there is the library NCCL in the place of gloo."
)
ASK = (
    "Think of a pipeline: {processes} processes with equal layers, through which the batch goes in "
    "{micro} [[micro-batch|{parts}]]. Each process has nothing to compute in {now} of the time, "
    "its [[bubble]]. How large is the bubble with twice as many micro-batches, {double}?"
)
MICRO_BATCHES = ("micro-batch", "micro-batches")
ASK_REASONS = (
    "With p processes and m micro-batches it is (p − 1) ÷ (m + p − 1) = {top} ÷ ({double} + {top}) "
    "= {right}.",
    "The bubble has the same length, and the step grows by less than twice: its share is a bit "
    "more than half of what it was.",
    "The bubble lasts as long as before, but there is more work around it: its share falls.",
    "More micro-batches make the bubble's share smaller, not larger.",
)

START_TITLE = "Start it for real"
START_TEXT = (
    "On one machine; each process gets a process of the machine. Then with torchrun, which comes "
    "with torch and is how large runs are started: on one machine, and on two machines of {each} "
    "processes, with the same line on both."
)
START_TRAIN = (
    "The training command of this app goes through torchrun as well: data parallel, or `--shard` "
    "for ZeRO 3 by `fully_shard`, on processors or GPUs."
)

PAPER_TITLE = "On paper: your model, your machines"
PAPER_TEXT = (
    "What does it take to train a model of your size? Choose a known one, or type your own "
    "numbers. Memory is that of training with Adam in mixed precision: 2 bytes a weight, 2 a "
    "gradient, 12 for the optimizer (a float32 copy and two averages). Activations come on top."
)
PRESET = "Model"
PRESETS = {
    "gpt3": "GPT-3, 175 B",
    "llama2small": "Llama 2, 7 B",
    "llama2": "Llama 2, 70 B",
    "llama3": "Llama 3.1, 405 B",
}
GPU = "GPU"
GPUS_KNOWN = {"v100": "V100, 32 GB", "a100": "A100, 80 GB", "h100": "H100, 80 GB"}
NUMBERS = {
    "fleetbillions": "Parameters, billions",
    "fleettokens": "Tokens, billions",
    "fleetgpus": "GPUs",
    "fleetbatch": "Tokens a step, millions",
    "fleetpeak": "Peak, Tflop/s",
    "fleetuse": "Reached, %",
    "fleetmemory": "Memory, GB",
    "fleetband": "Sends, GB/s",
}
AGAINST = "Compute the forward pass twice, to save memory (gradient checkpointing)"
PAPER_AXIS = "gigabytes per GPU"
LIMIT = "memory of one GPU"
STAGES = {"data": "data parallel", "zero1": "ZeRO 1", "zero2": "ZeRO 2", "zero3": "ZeRO 3"}
PAPER_COLUMNS = (
    "way",
    "memory per GPU",
    "fits",
    "sent per GPU and step",
    "sending takes",
    "beside computing",
)
FITS = {True: "yes", False: "no"}
PAPER_DAYS = (
    "One step computes for **{step}**. All {steps:,.0f} steps take **{days} days** on {gpus:,} "
    "GPUs, {hours:,.0f} GPU-hours and {operations} operations: {each} for each parameter and "
    "token. Sending comes on top where it cannot go on during the computation."
)
PAPER_FITS = {
    "": (
        "With none of these ways do weights, gradients and state fit into one GPU. More GPUs help "
        "ZeRO; tensor parallel and pipeline split the model, too."
    ),
    "data": "Even with data parallel alone, weights, gradients and state fit into one GPU.",
    "other": "The first way with which weights, gradients and state fit into one GPU is {stage}.",
}
PAPER_ASK = (
    "With {gpus:,} GPUs, ZeRO 3 needs 1 ÷ {gpus:,} of the memory of data parallel. What does it "
    "cost in bytes that each GPU sends in a step?"
)
PAPER_ANSWERS = (
    "As many as data parallel",
    "1.5 times as many as data parallel",
    "As many times as many as there are GPUs",
)
PAPER_REASONS = (
    "That holds for stages 1 and 2: a reduce-scatter of the gradients and an all-gather of the "
    "weights are the two halves of an all-reduce.",
    "Weights are gathered twice, for the forward and for the backward pass, and gradients are "
    "reduce-scattered: three halves of an all-reduce in the place of two.",
    "Each GPU sends parts: (N − 1) ÷ N of the weights in each gathering, however many GPUs there "
    "are.",
)
SOURCES = (
    "Sources. ZeRO and its bytes: Rajbhandari et al. 2020. GPT-3: Brown et al. 2020 (300 billion "
    "tokens, 3.2 million a step); on 1,024 A100 at 140 Tflop/s: an estimate of Narayanan et al. "
    "2021, with the forward pass computed twice. Llama 2: Touvron et al. 2023 (2,000 billion "
    "tokens, 4 million a step; 1,720,320 GPU-hours on A100 for 70 B, which is 43 % of the peak; "
    "GPUs are assumed). Llama 3.1: Grattafiori et al. 2024 (15,600 billion tokens, 16 million a "
    "step, 16,384 H100 at 41 %). GPUs: NVIDIA's datasheets, 16-bit without sparsity; 6.25, 25 "
    "and 50 GB/s to other machines, as each GPU of a DGX-1, DGX A100 and DGX H100 has."
)
