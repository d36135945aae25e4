"""The chapter "Word2vec" of the lesson "Tokens to vectors"."""
