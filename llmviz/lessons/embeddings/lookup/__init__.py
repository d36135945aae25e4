"""The chapter "The table" of the lesson "Tokens to vectors"."""
