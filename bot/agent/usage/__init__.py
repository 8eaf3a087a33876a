"""What calls of the model use, and the budgets that bound it."""
