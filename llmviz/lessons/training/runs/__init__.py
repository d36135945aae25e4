"""The chapter "Train one" of the lesson "Training"."""
