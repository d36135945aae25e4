"""The chapter "A trained model" of the lesson "Attention"."""
