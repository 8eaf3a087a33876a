"""Writes the table of docs/configure.md: `python -m docs.configure`."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from bot.config import Settings, env_name

PAGE = Path(__file__).parent / "configure.md"
BEGIN = "<!-- begin of what python -m docs.configure writes -->"


def table() -> str:
    """Return every setting with its default and what it is."""
    rows = ["| setting | default | what it is |", "|---|---|---|"]
    for name, about in Settings.model_fields.items():
        text = (about.description or "").replace("|", "\\|")
        rows.append(f"| `{env_name(name)}` | {_default(about.default)} | {text} |")
    return "\n".join(rows)


def _default(value: object) -> str:
    if isinstance(value, SecretStr) or value is None or value in ((), frozenset(), {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    shown = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"`{shown}`"


def page() -> str:
    """Return the whole page, with the table as it is to be."""
    return f"{PAGE.read_text().split(BEGIN)[0]}{BEGIN}\n\n{table()}\n"


if __name__ == "__main__":
    PAGE.write_text(page())
