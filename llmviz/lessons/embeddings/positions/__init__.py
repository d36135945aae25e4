"""The chapter "Positions" of the lesson "Tokens to vectors"."""
