"""What happens in a running bot, in numbers; off, it costs nothing."""

from bot.monitoring.metrics import Metrics, Watched

__all__ = ["Metrics", "Watched"]
