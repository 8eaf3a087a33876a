"""The page on which a person with a browser is one of the people."""
