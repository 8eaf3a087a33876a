"""From settings to parts: what is set up, made and joined."""
