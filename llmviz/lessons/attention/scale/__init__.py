"""The chapter "Why ÷√d" of the lesson "Attention"."""
