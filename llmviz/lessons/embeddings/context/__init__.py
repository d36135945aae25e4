"""The chapter "In context" of the lesson "Tokens to vectors"."""
