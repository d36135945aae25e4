"""The version of the package, which each checkpoint notes."""

__version__ = "0.2.0"
