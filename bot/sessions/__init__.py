"""Sessions: what one is, and where they live."""
