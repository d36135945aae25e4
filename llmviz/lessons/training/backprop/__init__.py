"""The chapter "Backpropagation" of the lesson "Training"."""
