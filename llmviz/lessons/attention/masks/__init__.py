"""The chapter "Masks" of the lesson "Attention"."""
