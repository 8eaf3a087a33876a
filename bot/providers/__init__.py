"""Model services behind the OpenAI protocol."""
