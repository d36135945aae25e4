"""The chapter "Following instructions" of the lesson "From a base model to a helper"."""
