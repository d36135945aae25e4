"""Text to tokens: cut, compared, learned, merged, spelled in bytes, and windowed for training."""
