"""What trains and writes the records that come with the project; no part of the package."""
