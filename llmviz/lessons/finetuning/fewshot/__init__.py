"""The chapter "Zero, one, few examples" of the lesson "From a base model to a helper"."""
