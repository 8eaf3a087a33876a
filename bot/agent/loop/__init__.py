"""The loop at work: what comes next, doing it, recording it, and how it ends."""
