"""How often a bot may do what (reference, "Rate Limits")."""
