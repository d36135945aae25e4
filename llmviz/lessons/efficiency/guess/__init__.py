"""Chapter "Guess and check"."""
