"""All that the chapter "Your own model, or GPT-2" says. Names in braces are live numbers."""

TITLE = "Import a published model"
TEXT = (
    "GPT-2 has the same kinds of parts as the small transformers here, but more of them. Once a "
    "published model is on this machine, you can choose it wherever a lesson lets you choose a "
    "model for your text. You then see its attention, its stream, its probabilities. The app reads "
    "GPT-2 and models of the Llama type (`llama`, `mistral`, `qwen2`), such as SmolLM2 and Qwen2.5."
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
BROKEN = "It stopped unexpectedly: {problem}"
NOT_HERE = (
    "Models can be imported only at the server machine itself: open this page there under "
    "localhost. The owner of the server can also allow every visitor to import from the hub, with "
    "the setting LLMVIZ_IMPORT=anyone. All visitors can use the models that are here already."
)

ABOUT_COLUMNS = ["what", "how much"]
ABOUT = {
    "kind": "architecture (model_type)",
    "shape": "shape",
    "parameters": "parameters",
    "numbers": "numbers in its weight files",
    "stored": "its files",
    "memory": "memory needed to read it",
    "free_memory": "free memory",
    "disk": "disk space needed here",
    "free_disk": "free disk space",
}
SHAPE = "{layers} layers of {heads} heads, width {width}, {vocab:,} tokens, context {context:,}"
WITH_BYTES = "{short} ({bytes:,} bytes)"
NEEDS = (
    "All numbers become float32, 4 bytes each. While the model is read, they are in memory twice "
    "for a moment: as in the file, and in the model."
)
REFUSED = "{source} cannot be imported: {problem}."
NAME = "Its name here"
IMPORT = "Import"
STAGES = {
    "": "Starting.",
    "downloading": "Downloading: {done} of {total}.",
    "reading": "Reading the weights.",
    "writing": "Writing it into the folder of runs.",
    "done": "Done.",
}
STAY = (
    "Keep this window open until it is done. If the import stops before its end, nothing is kept."
)
IMPORTED = (
    "{name} is imported. You can choose it wherever a lesson lets you choose a model for your text."
)
USE = "Use it in the lessons"

OFFLINE_TITLE = "Without a network"
OFFLINE = (
    "Without a network the hub cannot be reached. Download the model's folder on another machine, "
    "copy it here and type its path above. It must hold `config.json`, `model.safetensors` (or "
    "several such files with their index) and the tokenizer (`tokenizer.json`, or `vocab.json` and "
    "`merges.txt`). The command line does the same: `python -m llmviz import FOLDER --out "
    "runs/gpt2`."
)
SHAPES = (
    "GPT-2's four sizes. They are built on torch's meta device, where tensors have a shape but "
    "take no memory."
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
    "that you imported. At the server machine itself, you can delete every imported model. Models "
    "that came with llmviz, and kept runs, cannot be deleted here."
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
