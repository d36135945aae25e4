"""The chapter "Curves" of the lesson "Training"."""
