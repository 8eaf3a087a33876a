"""Parley: a Discord bot whose conversations are durable sessions."""
