"""The chapter "LoRA" of the lesson "From a base model to a helper"."""
