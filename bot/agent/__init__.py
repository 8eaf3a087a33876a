"""The agent: what to do next, asked of the log."""
