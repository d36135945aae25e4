"""The chapter "What the loss is" of the lesson "Training"."""
