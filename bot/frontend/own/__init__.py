"""What is people's own: where they talked, what was said, and that it can be forgotten."""
