"""The same scenarios in two worlds: our sandbox, and a Discord that nobody here wrote."""
