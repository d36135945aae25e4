"""The lesson on embeddings: one module a chapter."""
