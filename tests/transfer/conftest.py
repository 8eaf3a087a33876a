from tests.sessions.conftest import sqlite

__all__ = ["sqlite"]
