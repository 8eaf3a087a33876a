"""Small stores beside the sessions, in the same database: one a subject."""
