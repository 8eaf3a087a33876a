"""What a visitor does in the browser, in words."""

from dataclasses import dataclass
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.e2e.stage import Stage
from tests.sandbox.clients import Home

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Visitor:
    """Someone at the page."""

    page: Page
    home: Home | Stage

    @property
    def messages(self) -> Locator:
        return self.page.locator("#messages > li.message")

    @property
    def text(self) -> Locator:
        return self.page.locator("#text")

    @property
    def suggestions(self) -> Locator:
        return self.page.locator("#suggestions li")

    def message(self, text: str) -> Locator:
        """Return the last message with this text."""
        return self.messages.filter(has_text=text).last

    async def writes(self, text: str) -> None:
        """Type into the message box and press Enter."""
        await self.text.fill(text)
        await self.page.keyboard.press("Enter")

    async def types(self, text: str) -> None:
        """Type into the message box, key by key, and send nothing."""
        await self.text.press_sequentially(text)

    async def becomes(self, name: str) -> None:
        """Be another of the people."""
        await self.page.locator("#who").click()
        await self.page.locator("#people button", has_text=name).click()
        await expect(self.page.locator("#who strong")).to_have_text(name)

    async def goes(self, place: str) -> None:
        """Open a place by its name."""
        await self.page.locator("#places .place", has_text=place).first.click()
        await expect(self.page.locator("#title")).to_contain_text(place)

    async def drawn(self, text: str) -> str:
        """Return how the page draws a text in Discord's Markdown, as HTML."""
        script = """async (text) => {
            const { draw } = await import("/page/drawing.js");
            const names = { users: { 1: "alice" }, roles: { 2: "mods" }, places: { 3: "general" } };
            const box = document.createElement("div");
            box.append(...draw(text, { names, go: () => {} }));
            return box.innerHTML;
        }"""
        result: Any = await self.page.evaluate(script, text)
        return str(result)
