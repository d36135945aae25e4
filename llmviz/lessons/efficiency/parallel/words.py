"""All that the chapter "Many machines" says. Names in braces: live numbers."""

from llmviz.lessons.efficiency import LESSON

TITLE = LESSON.title_of("parallel")
TEXT = (
    "A model may be too large for one machine, or its training too long. Then several processes "
    "share one training, as a rule each on a GPU of its own. Up to rounding they must end with the "
    "same model as one process would. The ways to share differ in what is split: the rows of the "
    "batch, the optimizer's numbers, the weights, the matrices, the layers, the experts. What is "
    "split must be sent between the processes.\n\n"
    "Choose a way to share. Each of them was really run: a small GPT of {layers} layers and "
    "{parameters:,} parameters (more with experts) learns from bytes of the bundled stories. The "
    "processes are on one machine and send each other messages over its loopback network, with "
    "torch.distributed and its library gloo."
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
        "gradients of all processes and gives the sum to each. Divided by the number of processes "
        "it is the gradient of the whole batch, so that all make the same update."
    ),
    "zero1": (
        "**ZeRO, stage 1.** As data parallel, with {rows} of {batch} rows each. But AdamW keeps "
        "two numbers for each weight, and it is enough if one process keeps them. Each process "
        "gets the summed gradients of its part ([[reduce-scatter]]), updates that part of the "
        "weights, and the parts are sent to all ([[all-gather]])."
    ),
    "zero2": (
        "**ZeRO, stage 2.** As stage 1, but a process also keeps the gradients of its part alone. "
        "As soon as the backward pass has all gradients of a layer, they are summed over the "
        "processes, and each keeps the sums of its part ([[reduce-scatter]])."
    ),
    "zero3": (
        "**ZeRO, stage 3**, which torch calls `fully_shard` (FSDP). Weights are split, too. A "
        "layer's weights are gathered before the layer computes ([[all-gather]]), let go after it, "
        "and gathered again for its backward pass. The embedding and the head are gathered once "
        "a step."
    ),
    "tensor": (
        "**Tensor parallel.** All processes compute the same {batch} rows, but each has only some "
        "of the heads and some of the hidden numbers of every layer. What they compute is a part "
        "of a sum, and an [[all-reduce]] adds it up: twice for each layer in the forward pass and "
        "twice in the backward pass. The embedding, the norms and the head are in all processes."
    ),
    "gpipe": (
        "**Pipeline, GPipe.** Each process has some of the layers and passes its output on to the "
        "next one. {through} First all go forward, then all go "
        "back."
    ),
    "1f1b": (
        "**Pipeline, 1F1B** (one forward, one backward). As GPipe, with {micro} "
        "[[micro-batch|micro-batches]] of {rows} rows. But a process begins with backward passes "
        "as soon as it can, and then takes turns: one forward, one back. So it keeps the "
        "activations of at most {processes} micro-batches at once, as many as there are processes; "
        "with GPipe it keeps those of all {micro}."
    ),
    "experts": (
        "**Expert parallel.** This model has {experts} feed-forward networks (experts) in each "
        "layer, and a router sends each token to two of them: a [[mixture of experts]]. Each "
        "process has its rows ({rows} of {batch}) and its experts. Tokens travel to the processes "
        "of their experts and back ([[all-to-all]]). All that is not an expert is in every "
        "process, as in data parallel."
    ),
}
THROUGH = {  # whether there are several micro-batches
    False: (
        "The batch goes through as a whole, one [[micro-batch]] of {rows} rows, so only one "
        "process works at a time."
    ),
    True: (
        "The batch goes through in {micro} [[micro-batch|micro-batches]] of {rows} rows, so that "
        "several processes can work at the same time."
    ),
}
PROCESSES = "Processes"
PROCESSES_OF = {"2": "2", "4": "4"}
MICRO = "Micro-batches"
RECORDED = (
    "These are the figures of a run that comes with the app, made by `{command}` on a machine "
    "with {cores}."
)
LIVE = "These are the figures of a run on the machine that shows this page. It has {cores}."
CORES = ("1 core", "{cores} cores")
TURNS = (
    "{processes} processes on {cores} take turns: the times say how the work is ordered, not "
    "how fast {processes} machines would be."
)
RUN = "Run it here, now"
RUNS = "{processes} processes train …"
SO_FAR = "Step {step} of {steps}: loss {loss:.4f} nats per token."
DONE = (
    "It has ended. The figures of this chapter are now those of this run; only the comparison of "
    "all ways still has the runs that come with the app."
)
STOPPED = "The run was stopped. Its processes have ended."
AGAIN = "Run again"

PLACES_TITLE = "What lies where"
PLACES_TEXT = (
    "Each row is one process, with its weights, its gradients when the backward pass has ended, "
    "and the optimizer's state. The pale bar is the whole model from the embedding (left) to the "
    "head (right). What is coloured lies in this process; each layer, the embedding and the head "
    "have a colour of their own. Activations are not counted. Point at a piece for its numbers."
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
    "The process that holds the most has **{most}** of weights, gradients and state. That is "
    "{share} of what one process alone would hold, {alone}. All processes together hold {all}."
)
COMPARED = (
    "All ways on {processes} processes, from the runs that come with the app. For each way, the "
    "memory of the process that holds the most."
)
COMPARED_NOTE = (
    "The model with experts has more parameters than that of the other ways: one process alone "
    "would hold {experts}, instead of {others}."
)
HELD_AXIS = "megabytes"

TIMES_TITLE = "When each process works"
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
    "The fastest step took {step}; on one process alone the fastest took {alone}. Of the time of "
    "all processes in this step, {compute} went into computing, in {send} data were on their way, "
    "and in the other {wait} a process waited. If a process has to wait for a core, that time "
    "counts as part of its work."
)
BUBBLE = (
    "The time in which a process of a pipeline does not compute is called its [[bubble]]. In the "
    "step that is drawn it is **{measured}** of the time of all processes. That depends on more "
    "than the pipeline: messages take time, {why}, and the update counts as computing.\n\nHere is "
    "the same step without all that: each piece takes as long as a core really worked on it, every "
    "process has a core of its own, and messages take no time. The update is left out."
)
WHY_TURNS = "processes without a core of their own wait for one"
WHY_CORES = "other programs may use the cores, too"
REPLAYED = (
    "Now the bubble is **{replayed}** of the time. With p = {processes} stages and m = {micro} "
    "{parts} the formula (p − 1) ÷ (m + p − 1) gives **{formula}**. It holds if all stages and "
    "micro-batches take equally long."
)

SAME_TITLE = "The same model?"
SAME_TEXT = (
    "The loss of the whole batch at each step, on {processes} processes and on one. The largest "
    "difference between two losses is {loss}, and after {steps} steps the largest difference "
    "between two weights is {weight}.{logits}{why} A wrong gradient would move a weight by about "
    "the learning rate, {rate}, in one step."
)
ROUNDING = (
    " Such small differences are those of rounding: numbers are added in another order. Adam "
    "divides by the size of the gradient, which makes rounding visible where that is near 0."
)
EQUAL = " Not one number differs."
LOGITS = " Before the first step, the logits differ by at most {logits}."
SAME_AXES = ("step", "loss, nats per token")
SAME_NAMES = ("one process", "{processes} processes")

SENT_TITLE = "What is sent"
SENT_TEXT = {
    "data": (
        "In a ring of N processes with P bytes of gradients, an all-reduce sends 2 · (N − 1) ÷ N · "
        "P bytes from each process. First, parts go round and are added up, until each process has "
        "the sum of one part. Then these sums go round."
    ),
    "zero1": (
        "The all-reduce falls into its two halves: a reduce-scatter of the gradients and an "
        "all-gather of the weights, (N − 1) ÷ N · P bytes each. Stages 1 and 2 send as much as "
        "data parallel."
    ),
    "zero3": (
        "The weights of the blocks are gathered twice, those around them once, and all gradients "
        "are reduce-scattered. Each sends (N − 1) ÷ N of these bytes. If all weights were "
        "gathered twice, it would be 1.5 times what data parallel sends."
    ),
    "tensor": (
        "Four all-reduces a layer, each of B · T · C numbers of 4 bytes: rows, tokens, width. "
        "It grows with the rows and tokens of the batch, as the bytes of data parallel do not, and "
        "here no process computes meanwhile. So tensor parallel is mostly used inside one machine, "
        "where the connections are fast."
    ),
    "gpipe": (
        "At each border between two processes, B · T · C numbers of 4 bytes go forward and as many "
        "gradients come back. The first and the last process have one border, those between "
        "them two. It is the same however many layers a process has."
    ),
    "experts": (
        "Where a layer sends a token to an expert of another process, C numbers of 4 bytes travel "
        "four times: there and back, and the gradients of both. Half of it is sent by the token's "
        "own process, half by the other. How many tokens go depends on the router. First, each "
        "process tells the others how many come, 8 bytes for each of their experts. Besides, the "
        "gradients of all that is not an expert are all-reduced."
    ),
}
SENT_COLUMNS = (
    "process",
    "operation",
    "times a step",
    "counted, bytes a step",
    "by formula, bytes a step",
    "its sockets, bytes a step",
)
OPERATIONS = {
    "all_reduce": "all-reduce",
    "reduce_scatter": "reduce-scatter",
    "all_gather": "all-gather",
    "all_to_all": "all-to-all",
    "send": "send",
}
SENT_NOTE = (
    "Counted: the bytes that this process sends in the operations that ran, from the sizes of "
    "their tensors, if sums and gathers go round a ring. By formula: {formula}. Its sockets: what "
    "the operating system counted for all operations of the process together; each message has a "
    "few more bytes at its head."
)
FROM_SETTINGS = "from the settings alone"
FROM_ROUTES = "from the settings, and from how many tokens the router sent to other processes"
NO_SOCKETS = "This system does not say what sockets sent."
GLOO = (
    "The sockets of process 1 sent {times:.2f} times what was counted. A library need not use a "
    "ring. If it makes a reduce-scatter out of a whole all-reduce, of which each process keeps "
    "only its part, {double} would be sent. The sockets sent {sockets}. On GPUs the library NCCL "
    "takes the place of gloo."
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
    "Each micro-batch has half of the rows that it had, so the bubble, p − 1 micro-batches long, "
    "takes half as long. But the step gets shorter, too: the share is more than half of what it "
    "was.",
    (
        "Each micro-batch has half of the rows that it had, so the bubble, p − 1 micro-batches "
        "long, takes half as long. The work is the same, so the share falls."
    ),
    "This would be the bubble with half as many micro-batches. More of them make its share "
    "smaller.",
)

START_TITLE = "Start it for real"
START_TEXT = (
    "The first line starts {processes} processes on one machine. The second does so with torchrun, "
    "which comes with torch; large runs are started with it. The third is for two machines, "
    "{each}: enter it on both, with the name of one of them instead of HOST."
)
EACH = ("1 process on each", "{each} processes on each")
START_TRAIN = (
    "The last line is the training command of this app, which works with torchrun, too. It is data "
    "parallel, or with `--shard` ZeRO 3 by `fully_shard`, on processors or GPUs."
)
