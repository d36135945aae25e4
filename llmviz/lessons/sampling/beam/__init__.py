"""The chapter "Beam search" of the lesson "Sampling"."""
