"""What comes in with a message: its text, its files, and what it quotes."""
