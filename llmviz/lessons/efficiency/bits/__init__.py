"""Chapter "Numbers as bits"."""
