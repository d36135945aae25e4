"""What lessons compute with the engine; no Streamlit, and no torch at import."""
