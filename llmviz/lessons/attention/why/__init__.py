"""The chapter "Why" of the lesson "Attention"."""
