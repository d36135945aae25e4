"""All that the chapter "Your own model, or GPT-2" says. Names in braces are live numbers."""

TITLE = "Bring a published model"
TEXT = (
    "GPT-2 has the same kinds of parts as the small transformers here, only more of them. Once a "
    "published model is on this machine, you can choose it wherever a lesson lets you choose a "
    "model for your text: its attention, its stream, its probabilities. GPT-2 can be read, and "
    "models of the Llama type (`llama`, `mistral`, `qwen2`; SmolLM2 and Qwen2.5 are such)."
)
SOURCE = {
    True: "A folder on this machine, or OWNER/NAME on the hub",
    False: "OWNER/NAME on the hub",
}
EXAMPLE = "openai-community/gpt2"
LOOK = "Look at it"
LOOKING = "Reading the description and the shapes. No weights are loaded."
CANCEL = "Cancel"
WAITING = "Waiting for {before}."
CANCELLED = "Cancelled. Nothing was kept."
BROKEN = "It broke off unexpectedly: {problem}"
NOT_HERE = (
    "Models are brought onto this server at the machine itself: open this page there under "
    "localhost. Its owner can also allow every visitor to import from the hub, with the setting "
    "LLMVIZ_IMPORT=anyone. Models that are here already can be used by all."
)

ABOUT_COLUMNS = ["what", "how much"]
ABOUT = {
    "kind": "architecture (model_type)",
    "shape": "shape",
    "parameters": "parameters",
    "numbers": "numbers in its files of weights",
    "stored": "its files",
    "memory": "memory that reading it needs",
    "free_memory": "memory that is free",
    "disk": "disk that it needs here",
    "free_disk": "disk that is free",
}
SHAPE = "{layers} layers of {heads} heads, width {width}, {vocab:,} tokens, context {context:,}"
WITH_BYTES = "{short} ({bytes:,} bytes)"
NEEDS = (
    "Numbers become float32, 4 bytes each. Reading holds them twice for a moment: as in the file, "
    "and in the model."
)
REFUSED = "{source} cannot be taken: {problem}."
NAME = "Its name here"
IMPORT = "Import"
STAGES = {
    "": "Starting.",
    "downloading": "Downloading: {done} of {total}.",
    "reading": "Reading the weights.",
    "writing": "Writing it into the folder of runs.",
    "done": "Done.",
}
STAY = "Leave this window open meanwhile. It is there whole in the end, or not at all."
IMPORTED = "{name} is here. Lessons offer it wherever a model for your text is chosen."
USE = "Use it in the lessons"

OFFLINE_TITLE = "Without a network"
OFFLINE = (
    "The hub cannot be asked without a network. Fetch the model's folder on another machine, copy "
    "it here and give its path above: `config.json`, `model.safetensors` (or several such files "
    "with their index) and its tokenizer (`tokenizer.json`, or `vocab.json` and `merges.txt`). The "
    "command line does the same: `python -m llmviz import FOLDER --out runs/gpt2`."
)
SHAPES = (
    "What would come: GPT-2's four sizes, laid out on torch's meta device, where tensors have a "
    "shape and no memory."
)
SHAPE_COLUMNS = ["model", "layers", "heads", "width C", "parameters", "float32", "bfloat16"]

SHELF_TITLE = "The models that are here"
SHELF_COLUMNS = ["name", "where from", "model", "parameters", "on disk"]
FROM = {
    "bundled": "came with llmviz",
    "mine": "your run",
    "run": "kept run",
    "imported": "imported",
}
SHELF_NOTE = (
    "{count} with {size} on disk. You can delete your own runs that have ended, and the models "
    "that you imported; at the server itself, every imported model. What came with llmviz and what "
    "was kept cannot be deleted here."
)
DELETE_LABEL = "Delete one"
DELETE = "Delete …"
DELETE_ASKS = "Delete **{name}**, {size}? This cannot be undone."
DELETE_YES = "Delete it"
DELETED = "{name} is deleted."

QUESTION = (
    "GPT-2's smallest size has {parameters:,} parameters. How many bytes are its weights in "
    "float32?"
)
RIGHT = "A float32 number takes 4 bytes: 4 × {parameters:,} = {right:,}."
WRONG = {
    1: "That is one byte each, as in int8. A float32 number takes 4: {right:,}.",
    2: "That is two bytes each, as in bfloat16. A float32 number takes 4: {right:,}.",
    8: "That is eight bytes each, as in float64. A float32 number takes 4: {right:,}.",
}
