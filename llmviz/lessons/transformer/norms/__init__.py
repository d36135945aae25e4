"""The chapter "Norms and activations" of the lesson "Inside the transformer"."""
