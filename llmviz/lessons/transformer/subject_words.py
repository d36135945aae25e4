"""What the choice of a layer to look into says."""

OF = "Look into"
SUBJECTS = {"small": "Three words", "model": "A trained model"}
LAYER = "Layer"
CANNOT = (
    "This part needs a transformer whose layers have attention, one feed-forward network and "
    "shortcuts. Choose another model above."
)
SMALL = (
    "**The cat sat**: three words with four numbers each, as in the lesson on attention. The model "
    "has one layer with one head, so you can check everything by hand."
)
