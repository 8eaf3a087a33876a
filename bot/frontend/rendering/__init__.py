"""Markdown as Discord messages: the parts of `bot.frontend.rendering.markdown`."""
