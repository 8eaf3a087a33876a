"""What was used, and what may be."""
