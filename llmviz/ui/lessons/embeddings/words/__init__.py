"""All that the lesson on embeddings says, one module a chapter: translate these files.

Here stand the titles and what the chapters share. Names in braces are filled in with live numbers.
"""

TITLE = "Tokens to vectors"
PROMISE = (
    "A [[token id]] is only a name. The model swaps it for a row of numbers, and those numbers "
    "come to mean something because they were learned. At the end you will have seen every number "
    "of that swap, worked out how alike two words are, and watched words find their places."
)

LOOKUP = "The table"
SIMILARITY = "How alike"
CONTEXT = "In context"

VECTORS = "Vectors of"
NO_TABLE = "No trained model with a table of vectors is in this copy. This command makes one:"
NO_TABLE_COMMAND = "python -m llmviz checkpoints make {name}"
SPELLED_LIKE = "Spelled like it, with a row of their own:"
PIECES = "Its pieces, each with a row:"
