"""Models that `get` fetches."""
