"""Everything that can be made to go wrong."""
