"""The chapter "The race" of the lesson "Training"."""
