"""Chapter "Many requests"."""
