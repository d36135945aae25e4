"""The chapter "Heads" of the lesson "Attention"."""
