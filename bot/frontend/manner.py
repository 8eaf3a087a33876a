"""What decides how a log is shown, besides the log."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from bot.frontend.options import FrontendOptions


def manner_of(options: FrontendOptions) -> str:
    """Name how sessions are shown: by which release, and by what the operator may change."""
    looks = (options.answer_buttons, options.show_reasoning, options.approvals_channel)
    return " ".join(map(str, (_release(), *looks)))


def _release() -> str:
    try:
        return version("parley")
    except PackageNotFoundError:
        return ""
