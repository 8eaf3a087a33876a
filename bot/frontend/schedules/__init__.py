"""What people want said later."""
