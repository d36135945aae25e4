"""Figures: arrays and labels in, a Plotly figure out; nothing is computed or shown here."""
