"""The chapter "What layers know" of the lesson "Words and their roles"."""
