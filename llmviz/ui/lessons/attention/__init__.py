"""Attention: step by step, masks and mistakes, the scale, heads, and trained models at work."""
