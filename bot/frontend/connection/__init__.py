"""Being connected to Discord."""
