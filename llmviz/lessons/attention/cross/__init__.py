"""The chapter "Cross-attention" of the lesson "Attention"."""
