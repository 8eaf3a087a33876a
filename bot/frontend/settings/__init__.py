"""What each server and channel has of its own, within what the operator allows."""
