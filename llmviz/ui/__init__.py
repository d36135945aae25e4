"""What pages are furnished with. The only part of `llmviz` that knows Streamlit."""
