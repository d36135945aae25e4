"""The chapter "Temperature" of the lesson "Sampling"."""
