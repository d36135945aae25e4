"""The chapter "Words" of the lesson "Text to tokens"."""
