"""Chapter "Which system does what"."""
