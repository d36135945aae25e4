"""The chapter "WordPiece" of the lesson "Text to tokens"."""
