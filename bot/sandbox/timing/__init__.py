"""The world's time: its clock, ids that tell the time, and waiting for a change."""
