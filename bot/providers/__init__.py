"""Model services behind the OpenAI protocol.

Importing this package imports no SDK: that takes half a second, and is done in a thread when a
model is first asked.
"""

from bot.providers.presets import ProviderType
from bot.providers.provider import Provider
from bot.providers.retry import RetryPolicy

__all__ = ["Provider", "ProviderType", "RetryPolicy"]
