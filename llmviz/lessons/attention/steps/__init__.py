"""The chapter "Step by step" of the lesson "Attention"."""
