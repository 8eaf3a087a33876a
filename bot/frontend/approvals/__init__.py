"""Decisions on requests, the policy of a server, and what waits."""
