"""The model as the agent sees it: what it is asked, and how much it reads."""
