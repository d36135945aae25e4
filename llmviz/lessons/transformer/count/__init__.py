"""The chapter "Counting" of the lesson "Inside the transformer"."""
