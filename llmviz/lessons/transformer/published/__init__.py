"""The chapter "Your own model, or GPT-2" of the lesson "Inside the transformer"."""
