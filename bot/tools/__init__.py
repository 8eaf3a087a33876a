"""Tools that ship and need no Discord."""
