"""What the choice of a layer to look into says."""

OF = "Look into"
SUBJECTS = {"small": "Three words", "model": "A trained model"}
LAYER = "Layer"
CANNOT = (
    "This part opens transformers whose layers have attention, one feed-forward network, and "
    "shortcuts. Choose another model above."
)
SMALL = (
    "**The cat sat**: three words, four numbers each, as in the lesson on attention, and one "
    "layer with one head. All of it can be checked by hand."
)
