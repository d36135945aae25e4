"""The chapters of the lesson on sampling, one file each, and its words."""
