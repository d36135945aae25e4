"""The chapter "When it goes wrong" of the lesson "Training"."""
