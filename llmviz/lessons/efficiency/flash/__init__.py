"""Chapter "Flash attention"."""
