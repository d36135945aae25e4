"""Chapter "Who does what"."""
