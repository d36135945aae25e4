"""The chapter "Stems" of the lesson "Words and their roles"."""
