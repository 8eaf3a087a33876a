"""A tool that reads web pages."""

from bot.tools.web.fetch_page import fetch_page, fetch_page_tool

__all__ = ["fetch_page", "fetch_page_tool"]
