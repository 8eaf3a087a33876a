"""What the model is told: the log as messages, with all that is put in, cut and summarised."""
