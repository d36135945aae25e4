"""The chapter "Merge" of the lesson "Text to tokens"."""
