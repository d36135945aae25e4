"""The chapter "What it knows" of the lesson "Sampling"."""
