"""Databases: connections, the writer, migrations."""
