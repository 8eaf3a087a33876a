"""What a request is refused with, and how its body is read field by field."""
