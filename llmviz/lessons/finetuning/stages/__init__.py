"""The chapter "The stages" of the lesson "From a base model to a helper"."""
