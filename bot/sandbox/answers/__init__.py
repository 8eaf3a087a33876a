"""A bot's answer to an interaction, and what the person sees of it."""
