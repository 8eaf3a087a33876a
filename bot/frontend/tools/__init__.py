"""Tools that need Discord."""
