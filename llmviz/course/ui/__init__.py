"""What all pages share: state, controls, words, models. Streamlit is known here and above."""
