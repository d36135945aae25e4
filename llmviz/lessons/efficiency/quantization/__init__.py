"""Chapter "Quantization"."""
