"""The chapter "Patching" of the lesson "Inside the transformer"."""
