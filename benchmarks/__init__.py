"""What is fast, against what. Each file prints ratios measured in one run."""
