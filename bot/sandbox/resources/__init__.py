"""What there is, the JSON that Discord sends of it, and who is told when it changes."""
