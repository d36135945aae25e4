"""The chapter "Residuals" of the lesson "Inside the transformer"."""
