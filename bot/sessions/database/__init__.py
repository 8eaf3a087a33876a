"""Sessions in a database, whichever engine keeps it."""
