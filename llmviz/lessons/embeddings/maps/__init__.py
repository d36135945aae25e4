"""The chapter "Maps" of the lesson "Tokens to vectors"."""
