"""The settings of servers and channels, as people see and change them."""
