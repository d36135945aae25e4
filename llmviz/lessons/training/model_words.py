"""What every chapter says that lets a model read a text."""

LOADING = "Loading torch and the model …"
TOO_SLOW = "it took longer than a minute"
ENGINE_FAILED = "torch could not be loaded: {problem}"
MODEL = "Model"
NO_MODEL = "The model {name} is not in this copy of the app. This command makes it:"
NO_MODEL_COMMAND = "python -m llmviz checkpoints make {name}"
EMPTY = "There is nothing to predict yet: type a sentence."
CUT = "Your text is {all} long. The first {limit} are taken here, up to {last}."
UNKNOWN = "{unknown} of this text are unknown to the model and read as <|unk|>."
START = "⟨start⟩"
NAME = "rosalinda"  # an example for models of names
