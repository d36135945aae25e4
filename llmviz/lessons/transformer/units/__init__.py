"""The chapter "Units" of the lesson "Inside the transformer"."""
