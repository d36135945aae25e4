"""All that the chapter "Many requests" says. Names in braces: live numbers."""

TITLE = "One model, many people"
TEXT = (
    "A model on a server answers many people at once. One token for each of several texts, "
    "computed together, takes less time than one after the other: the weights are read once for "
    "all of them. So the server puts requests into a batch. Two things are scarce: rows of the "
    "batch, and memory for the keys and values of every token read so far (see the chapter *The "
    "cache*). Which requests may join, and when, is decided by a **policy**. Here a small "
    "serving engine with ideas of vLLM and similar engines serves the story model."
)

LOOP_LINK = "One text with such a memory: the loop"

POLICIES = {
    "static": "static",
    "dynamic": "dynamic",
    "continuous": "continuous",
    "split-fuse": "split-fuse",
}
ABOUT = {
    "static": (
        "**static**: waiting texts form a batch, as many as there are rows and memory for. It "
        "goes on until its last text has ended, and nobody joins meanwhile. Prompts are padded to "
        "the longest one. A text that has ended keeps its row, which is computed for nobody. From "
        "the start, each text gets memory for the longest prompt and the longest answer of its "
        "batch. So nobody is pushed out."
    ),
    "dynamic": (
        "**dynamic**: as static, but while fewer texts wait than the batch has rows, it begins "
        "later: when the first of them has waited for {window} ms."
    ),
    "continuous": (
        "**continuous** ([[continuous batching]]): after every step, requests that have ended "
        "leave the batch. Then those that wait join in their order, as long as there are rows and "
        "memory."
    ),
    "split-fuse": (
        "**split-fuse**: as continuous, but a long prompt is read in parts. No step computes more "
        "than {budget} tokens. This limits how long one prompt can hold up the others."
    ),
}
PREEMPTIONS = {"recompute": "compute them again", "swap": "move them to a second memory"}
BLOCK_SIZES = {"4": "4", "8": "8", "16": "16", "32": "32"}
RUNS = {"0": "first", "1": "second"}

FILM_TITLE = "A run, tick by tick"
FILM_TEXT = (
    "A tick is one step of the engine: the model is called once for all rows of the batch. A row "
    "in **prefill** reads a prompt, many tokens at once. A row in **decode** computes one token, "
    "the last one written, and draws the next. Memory is given in blocks, and a [[block table]] "
    "says which blocks a text has: this is the memory of [[paged attention]]. With the policies "
    "continuous and split-fuse a text gets a block when it needs one. Where none is free, the "
    "newest text is pushed out and waits ([[preemption]]). If its keys and values were thrown "
    "away, its prompt and what it had written are read again later. Play it, or click a request, "
    "a block or a lane."
)
BUNDLED = (
    "These two runs are real ones, recorded on {date} with torch {torch} and {threads} (machine: "
    "{machine}). The command `{command}` records them again. Below you start runs of "
    "your own, measured on this machine."
)
OWN_RUNS = "These are your two runs, measured on this machine."
RUN = "Show the run with the policy"
NO_FILE = "The recorded runs are not in this copy of the app. Start runs of your own below."
SAME_RUN = "{policy} ({number})"

FILM = {
    "player": "ticks of the run",
    "since": "since the start",
    "took": "this tick took",
    "prefill": "tokens in prefill",
    "decode": "rows in decode",
    "padding": "tokens computed for nobody",
    "waiting": "waiting",
    "free": "free blocks",
    "waste": "slots without a token",
    "batch": "The batch of this tick",
    "nobody": "Nobody is computed in this tick.",
    "prefills": "prefill",
    "decodes": "decode",
    "pads": "padding",
    "queue": "waits",
    "pushedOut": "pushed out",
    "swappedOut": "moved away",
    "finished": "ends",
    "none": "nobody",
    "memory": "The memory",
    "memoryNote": (
        "A square is a block, filled as far as its slots have tokens. Those of a prompt count from "
        "the tick in which it joins. ×2: two texts share it. Grey: free, and what was in it is "
        "kept for a prompt that begins alike."
    ),
    "block": "Block",
    "freeBlock": "free",
    "keptBlock": "free, and its content is kept for a prompt that begins alike",
    "times": "All requests",
    "timesNote": (
        "Thin line: it waits. Full colour: prefill. Pale: decode. Frame: its row pads a batch. "
        "Dashed: it was pushed out of the memory. Dotted: it was moved to the second "
        "memory. Faint line: it is in the batch, but nothing of it is computed."
    ),
    "time": "time",
    "own": "The request",
    "tableNote": "Block table, place → block, slots with a token:",
    "noTable": "It holds no blocks at this tick.",
}
STATES = {
    "away": "not in the batch yet",
    "waiting": "waits for a place in the batch",
    "prefill": "prefill, its prompt is read (again, if it was pushed out)",
    "decode": "decode, it writes",
    "padding": "it has ended, or its beam was dropped; its row pads the batch",
    "idle": "nothing of it is computed in this tick",
    "preempted": "pushed out of the memory, waits",
    "swapped": "moved to the second memory, waits",
    "over": "it has ended",
}

ASK = (
    "At its longest, text {name} has {length} in memory, prompt and answer together. A block holds "
    "{size}. How many blocks do these tokens need?"
)
ASK_UP = (
    "{tokens} ÷ {size}, rounded up: {blocks}. Slots without a token: {slots} − {tokens} = {waste}. "
    "Where a text gets a block only when it needs one, such slots are in its last block alone."
)
ASK_DOWN = "{tokens} ÷ {size}, rounded down, leaves {rest} without a place."
ASK_ONE_MORE = "The next block is taken only when a token comes that needs it."
ASK_TOKENS = "Then every token would have a block of its own, with {size} slots."

SERVE_TITLE = "Serve other requests"
SERVE_TEXT = (
    "Choose what comes and how it is served. Both policies then serve the same requests, one run "
    "after the other. The gaps between arrivals, the lengths of prompts and the limits of answers "
    "are drawn at random: most are small, a few are large. An answer may end before its limit."
)
POLICY, AGAINST = "Policy", "Compared with"
COUNT, RATE = "Requests", "Arrivals per second (0: all at once)"
PROMPT, NEW = "Mean prompt, tokens", "Mean limit of an answer, tokens"
SAMPLES, BEGINNING = "Texts to each prompt", "Equal tokens before each prompt"
KIND = "Texts to one prompt are"
KINDS = {"samples": "samples", "beams": "beams"}
BATCH, MEMORY, BLOCK = "Rows of the batch", "Memory, tokens", "Tokens in a block"
SHARE, PREEMPT = "Share equal beginnings", "Keys and values of one that must wait"
OWN = "Your own prompts, one a line"
OWN_HELP = (
    "They come in place of other requests, and are called own-1, own-2 … No equal tokens are put "
    "before them."
)
OWN_LIMITS = "At most {lines} of them, each of at most {characters} characters."
OWN_PLACE = "One winter morning, Otto the archer woke up happy."
START = "Serve them"
GOES = "Serving …"
STOPPED = "The runs were stopped before they ended, so the picture does not show them."
AGAIN = "Serve them again"
SO_FAR = "{policy}: {ended} of {all} texts have ended, {tokens} written."
DONE = "Both runs are over. The picture above shows them."
SAMPLED = (
    "With several samples of a prompt, tokens are drawn at temperature {temperature:g}, so that "
    "the samples can differ. With one sample the most probable token is taken."
)
SEARCHED = (
    "The texts to a prompt are the beams of one [[beam search]]. They run together, so that a "
    "search waits until the batch has a row and the memory has blocks for each of its beams. None "
    "of its texts is certain before its end, so all its tokens come then. Prompts and answers are "
    "cut to {tokens}, so that the beams of a search fit into the memory also where they share "
    "nothing."
)

FIGURES_TITLE = "Side by side"
FIGURES_TEXT = (
    "What people notice is the [[time to first token]], and then the time for each further one. "
    "What the owner of the machine notices is [[throughput]]. A mean hides the longest waits, so "
    "times are given as [[percentile|percentiles]]: p90 is the 90th."
)
FIGURES = {
    "seconds": "whole run, s",
    "tokens": "tokens written",
    "throughput": "throughput, tokens/s",
    "first": "time to first token p{p}, ms",
    "each": "each further token p{p}, ms",
    "padding": "tokens computed for nobody",
    "waste": "held slots without a token, %",
    "preempted": "times a text was pushed out",
    "scheduling": "scheduling, % of the time",
}
NONE = "–"
CURVE_AXES = ("time to first token, ms", "share of the texts, %")
CURVE_TEXT = "How many percent of the texts had their first token within so many milliseconds:"
FASTER = (
    "The policy {first} wrote {one:,.0f} tokens per second and {second} {other:,.0f}: {ratio:.2f} "
    "times as many for {winner}."
)
ALIKE = "Both wrote about {one:,.0f} tokens per second."

WHO_TITLE = "Who waits less?"
WHO = (
    "In these two runs, which policy has the shorter time to first token in the middle (50th "
    "percentile)?"
)
WHO_EQUAL = "it is the same for both, to a tenth of a millisecond (ms)"
WHO_REASON = "{first}: {one:,.1f} ms. {second}: {other:,.1f} ms."

SAMPLES_TITLE = "Several answers to one prompt"
SAMPLES_TEXT = (
    "**Parallel samples** are several answers to the same prompt. The prompt is read once, and all "
    "of them name the same blocks in their tables. Only when a sample is going to write into a "
    "block that others hold, it gets a copy of that block first. The **beams** of a "
    "[[beam search]] can share more. After each step some beams are dropped, and others go on in "
    "several ways. A beam that goes on twice gives its table to both, and a block that no beam "
    "names any more is free again (Kwon et al. 2023).\n\n"
    "Prompts that begin alike, such as with the same instructions, "
    "can share as well, if this is switched on: full blocks are found by their content. The "
    "policies static and dynamic share nothing here: each of their rows is by itself, and a beam "
    "that goes on twice is copied."
)
WAYS = "One prompt, its four texts are"
WAYS_SAVED = (
    "At the tick with the longest tables, these name {named} in all, and only {held} of them are "
    "different: sharing saves {saved} ({share}). Copied in the whole run, before a text wrote into "
    "a shared one: {copied}."
)
WAYS_BUNDLED = (
    "A real run with the policy continuous, recorded on {date} with torch {torch}. The command "
    "`{command}` records it again."
)
SAMPLES_LIVE = (
    "In the run at the top of this chapter, with the policy {policy}: shared while a tick was "
    "computed, at most {most}; copied before a text wrote into a shared one, {copies}."
)
ASK_SAMPLES = (
    "A prompt of {prompt} is read for {samples} samples, in blocks of {size}. How many blocks hold "
    "it right after, if the samples share?"
)
ASK_SHARED = (
    "All {samples} tables name the same blocks: {tokens} ÷ {slots}, rounded up, is {blocks}."
)
ASK_COPIES = "Each sample would have its own copy of the prompt. That is what sharing saves."
ASK_EACH = "One block for each sample would not depend on how long the prompt is."

SERVER_TITLE = "Serve it yourself"
SERVER_TEXT = (
    "The same engine answers over HTTP, in the form of OpenAI's completions. Programs that can "
    "talk to such an address can talk to this one. It listens on this machine only, unless told "
    "otherwise, and takes as many requests at once as its settings say. Others are asked to come "
    "again. The field `n` asks for several texts to a prompt: samples, or, with "
    '`"use_beam_search": true`, the beams of a search. Fields that mean nothing here, such as '
    "`best_of`, are refused."
)
SERVER = """python -m llmviz serve --checkpoint tiny-world-gpt --policy continuous --max-batch 16

curl http://127.0.0.1:8000/v1/completions -H "Content-Type: application/json" \\
  -d '{"model": "tiny-world-gpt", "prompt": "One morning,", "max_tokens": 40, "stream": true}'
"""
CODE_LABEL = "Show the code: a schedule without a model"
