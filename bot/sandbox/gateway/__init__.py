"""The gateway: a bot's websocket (reference, "Gateway")."""
