"""Making what people see equal to what they should see, live and after a start."""
