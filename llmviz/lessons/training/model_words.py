"""The texts of the choice of a model, and of reading a text with it."""

MODEL = "Model"
NO_MODEL = "The model {name} is not in this copy of the app. This command makes it:"
NO_MODEL_COMMAND = "python -m llmviz checkpoints make {name}"
EMPTY = "There is nothing to predict yet: type a sentence."
CUT = "Your text has {all}. The first {limit} are used here, up to {last}."
UNKNOWN = "The model does not know {unknown} of this text and reads <|unk|> there."
START = "⟨start⟩"
NAME = "rosalinda"  # an example for models of names
