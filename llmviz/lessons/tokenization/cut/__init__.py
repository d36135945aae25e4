"""The chapter "Cut" of the lesson "Text to tokens"."""
