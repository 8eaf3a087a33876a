"""What people should see of a session: pure functions of its log."""
