"""The chapter "Counts" of the lesson "Words and their roles"."""
