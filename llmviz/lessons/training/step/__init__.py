"""The chapter "One step of training" of the lesson "Training"."""
