"""Those who act without HTTP: persons and webhooks."""
