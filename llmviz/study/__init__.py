"""What lessons compute with the engine: look-ups, readings of a text, sweeps. No Streamlit."""
