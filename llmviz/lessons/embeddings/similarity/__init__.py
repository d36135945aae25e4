"""The chapter "How alike" of the lesson "Tokens to vectors"."""
