"""The chapter "Descent" of the lesson "Training"."""
