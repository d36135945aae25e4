"""The chapter "Names" of the lesson "Words and their roles"."""
