"""All that the lesson on embeddings says, one module a chapter: translate these files.

Here stand the titles and what the chapters share. Names in braces are filled in with live numbers.
"""

VECTORS = "Vectors of"
NO_TABLE = "No trained model with a table of vectors is in this copy. This command makes one:"
NO_TABLE_COMMAND = "python -m llmviz checkpoints make {name}"

# A word that has no row of its own
PIECES = "{word} has no row of its own in {name}: it is cut into {count}. Look at one of them:"
UNKNOWN = "{word} is not in the vocabulary of {name}, which has {count:,} words."
SPELLED_LIKE = "Spelled like it, with a row of their own:"
NOTHING_LIKE = "No word that has a row is spelled like it."

# What stands on a map of words, still or a film
MAP_OF_WORDS = {
    "near": "",
    "drop": "remove",
    "false": "Near only on the map:",
    "find": "Find a word",
    "found": "{n} found",
    "in": "closer (or Ctrl and wheel)",
    "out": "farther",
    "whole": "the whole map",
    "kinds": "Kinds of words that are coloured",
    "all": "all",
    "none": "none",
}
