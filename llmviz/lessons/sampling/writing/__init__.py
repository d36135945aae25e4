"""The chapter "Writing" of the lesson "Sampling"."""
