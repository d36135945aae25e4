"""The chapter "A classifier" of the lesson "From a base model to a helper"."""
