"""The chapter "The dice" of the lesson "Sampling"."""
