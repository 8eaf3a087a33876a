"""Tests: the same tree as `bot`."""
