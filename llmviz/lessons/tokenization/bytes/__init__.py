"""The chapter "Bytes" of the lesson "Text to tokens"."""
