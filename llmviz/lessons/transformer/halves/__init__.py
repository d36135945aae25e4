"""The chapter "Two halves" of the lesson "Inside the transformer"."""
