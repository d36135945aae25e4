"""The chapter "Preferences" of the lesson "From a base model to a helper"."""
