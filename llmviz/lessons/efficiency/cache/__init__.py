"""Chapter "The cache"."""
