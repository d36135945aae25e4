"""The chapter "Lemmas" of the lesson "Words and their roles"."""
