"""Messages on their way in: where they are from, what was missed, and where they go."""
