"""Tools: what they are, what they give back, and how they run beside the event loop."""
