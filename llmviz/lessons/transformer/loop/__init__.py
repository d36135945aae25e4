"""The chapter "Token after token" of the lesson "Inside the transformer"."""
