"""The chapter "Windows" of the lesson "Text to tokens"."""
