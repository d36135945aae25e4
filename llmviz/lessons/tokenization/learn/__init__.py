"""The chapter "Learn" of the lesson "Text to tokens"."""
