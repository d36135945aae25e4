"""Chapter "Many machines"."""
