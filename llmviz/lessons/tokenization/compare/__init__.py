"""The chapter "Compare" of the lesson "Text to tokens"."""
