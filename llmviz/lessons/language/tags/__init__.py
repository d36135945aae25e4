"""The chapter "Parts of speech" of the lesson "Words and their roles"."""
