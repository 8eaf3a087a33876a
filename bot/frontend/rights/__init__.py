"""Who asks for something, and what they and the bot may do by hand."""
