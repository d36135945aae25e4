"""The chapter "What changed since 2017" of the lesson "Inside the transformer"."""
