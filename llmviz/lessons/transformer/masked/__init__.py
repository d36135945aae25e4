"""The chapter "Words hidden" of the lesson "Inside the transformer"."""
