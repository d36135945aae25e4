"""The chapter "Logits to a token" of the lesson "Sampling"."""
