"""What people do by hand that a bot hears of as an interaction, with a client's checks."""
