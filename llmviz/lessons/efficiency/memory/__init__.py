"""Chapter "Training memory"."""
