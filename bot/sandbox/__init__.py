"""A Discord on loopback."""
