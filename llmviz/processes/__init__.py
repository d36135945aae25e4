"""Work beside the server: starting it, taking turns, limits, and connections handed on."""
