"""What people press and type: slash commands, buttons and forms. They never wait."""
